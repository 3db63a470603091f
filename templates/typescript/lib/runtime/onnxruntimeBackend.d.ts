import type { About, Backend, Device, Opened, OpenRequest, Place, Platform, Ran } from './backend.js';
import type { OnnxRuntime } from './onnxruntimeApi.js';
import { type OnnxRuntimeOptions } from './onnxruntimeFiles.js';
import type { Produced } from './onnxruntimeTensors.js';
/** A model as ONNX Runtime gets it. */
export interface Given {
    /** Its bytes, or its path. */
    readonly model: Uint8Array | string;
    /** Weights that it does not find itself. */
    readonly externalData: ReadonlyArray<{
        readonly path: string;
        readonly data: Uint8Array;
    }>;
    readonly sizeBytes: number;
}
/** Sessions and outputs that are kept have numbers, as in native code. */
export declare class OnnxRuntimeBackend implements Backend {
    readonly platform: Platform;
    readonly device: Device;
    readonly kept: null;
    private readonly ort;
    private readonly options;
    private readonly runners;
    private readonly calls;
    private readonly outputs;
    private readonly ownsInputs;
    private last;
    /** With `ownsInputs`, callers leave the inputs of runs as they are: they are not copied. */
    constructor(ort: OnnxRuntime, options: OnnxRuntimeOptions, ownsInputs?: boolean);
    about(): About;
    locate(path: string): Promise<Place>;
    onMemoryPressure(): () => void;
    open(request: OpenRequest, model: ArrayBuffer | null): Promise<Opened>;
    close(session: number): void;
    run(session: number, call: number, buffers: readonly ArrayBuffer[], layout: readonly number[], texts: ReadonlyArray<readonly string[]>, isTimed: boolean): Promise<Ran>;
    runSync(): Ran;
    profile(): Promise<string>;
    worklet(): object;
    isHot(): boolean;
    residentBytes(): number;
    cancel(call: number): void;
    allocate(sizeBytes: number): ArrayBuffer;
    /** The outputs of a run, where they lie. */
    produced(kept: number): readonly Produced[];
    take(kept: number, output: number, into: ArrayBuffer): void;
    drop(kept: number): void;
    fileSize(): number;
    readFile(path: string, offset: number, into: ArrayBuffer, sha256: string): Promise<void>;
    writePart(path: string): Promise<void>;
    finishPart(part: string): Promise<void>;
    removeFile(path: string): Promise<void>;
    makeFolder(path: string): Promise<void>;
    /** A checked model as ONNX Runtime opens it. */
    protected given({ file, weights }: OpenRequest, model: ArrayBuffer | null): Promise<Given>;
    private create;
    /** Outputs with memory of the app need not be kept; nobody takes them. */
    private keep;
    private next;
}
