import type { About, Backend, Checked, Device, KeptFiles, Opened, OpenRequest, Place, Platform, Ran } from '../runtime/backend.js';
import { type PageOptions, type Site } from './site.js';
/** Starts ONNX Runtime when the first model is opened, once for all models of the package. */
export declare class WebBackend implements Backend {
    readonly platform: Platform;
    readonly device: Device;
    readonly kept: KeptFiles | null;
    readonly packageName: string;
    private readonly site;
    private readonly options;
    private readonly threads;
    private readonly sessions;
    private readonly calls;
    private readonly outputs;
    /** Where ONNX Runtime runs, or will. */
    private hosting;
    private last;
    constructor(site: Site, options: PageOptions);
    about(): About;
    /** In the worker, where there is one: a browser copies what it computes checksums of. */
    readonly checksum: (bytes: ArrayBuffer) => Promise<Checked>;
    locate(path: string, _size: number, url?: string): Promise<Place>;
    probe(provider: string): Promise<void>;
    open(request: OpenRequest, model: ArrayBuffer | null): Promise<Opened>;
    isLost(session: number): boolean;
    abandon(): void;
    close(session: number): void;
    run(session: number, call: number, buffers: readonly ArrayBuffer[], layout: readonly number[], texts: ReadonlyArray<readonly string[]>, isTimed: boolean): Promise<Ran>;
    /** A run that was cancelled before its turn is never asked of the host, which could not stop it. */
    private inTurn;
    runSync(): Ran;
    profile(): Promise<string>;
    worklet(): object;
    onMemoryPressure(): () => void;
    isHot(): boolean;
    residentBytes(): number;
    /** ONNX Runtime cannot end a run that is under way: it goes on, and its outputs are dropped. */
    cancel(call: number): void;
    allocate(sizeBytes: number): ArrayBuffer;
    take(kept: number, output: number, into: ArrayBuffer): void;
    drop(kept: number): void;
    fileSize(): number;
    readFile(path: string, offset: number, into: ArrayBuffer, sha256: string): Promise<void>;
    writePart(path: string): Promise<void>;
    finishPart(part: string): Promise<void>;
    removeFile(path: string): Promise<void>;
    makeFolder(path: string): Promise<void>;
    /** Where a file is: in the copy of the package that the page has named, or where the bundler put it. */
    private addressOf;
    private next;
    private started;
    private start;
    /** One that has failed is replaced. */
    private madeHosting;
    private workerHost;
    private scriptUrl;
    private hasWorker;
    private makeWorker;
}
