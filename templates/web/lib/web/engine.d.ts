import type { Checked, Opened, OpenRequest } from '../runtime/backend.js';
import type { Produced } from '../runtime/onnxruntimeTensors.js';
/** Settings that ONNX Runtime is started with. */
export interface StartRequest {
    /** Address of its JavaScript. */
    readonly script: string;
    /** Its WebAssembly, checked. */
    readonly binary: ArrayBuffer;
    readonly threads: number;
}
/** A run, as `Engine.run` has it. Its buffers belong to who runs it; outputs are all made by ONNX Runtime. */
export interface RunRequest {
    readonly session: number;
    readonly buffers: readonly ArrayBuffer[];
    readonly layout: readonly number[];
    readonly texts: ReadonlyArray<readonly string[]>;
}
/** Result of a run. */
export interface RunAnswer {
    readonly outputs: readonly Produced[];
}
/** Runs sessions somewhere. */
export interface Host {
    /** Whether it has failed for good: whatever was open in it is lost. */
    readonly hasFailed: boolean;
    start(request: StartRequest): Promise<void>;
    /** Before anything is started: rejected with `runtime` for a provider that this browser does not have. */
    probe(provider: string): Promise<void>;
    /** The bytes of the model and of its weights are the host's from now on. */
    open(request: OpenRequest, model: ArrayBuffer, weights: readonly ArrayBuffer[]): Promise<Opened>;
    /** The SHA-256 of bytes, whose memory is the host's until then. */
    checksum(bytes: ArrayBuffer): Promise<Checked>;
    close(session: number): void;
    /** One at a time for each session. */
    run(request: RunRequest): Promise<RunAnswer>;
    /** Frees all that it has once it has answered; nothing may be asked of it any more. */
    end(): void;
    /** Fails if it can, as it does not answer: another one may. */
    abandon(): void;
}
/** Runs sessions on the thread that calls it. */
export declare class LocalHost implements Host {
    readonly hasFailed = false;
    private started;
    /** @throws ModelError `unsupported` for a browser without WebAssembly's SIMD, `missing` for a script that is not there */
    start({ script, binary, threads }: StartRequest): Promise<void>;
    probe(provider: string): Promise<void>;
    open(request: OpenRequest, model: ArrayBuffer, weights: readonly ArrayBuffer[]): Promise<Opened>;
    checksum(bytes: ArrayBuffer): Promise<Checked>;
    close(session: number): void;
    run({ session, buffers, layout, texts }: RunRequest): Promise<RunAnswer>;
    end(): void;
    abandon(): void;
    private engine;
}
