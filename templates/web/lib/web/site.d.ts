/** Files of a package, by their addresses: bundlers replace them. */
export interface Site {
    readonly packageName: string;
    /** Of ONNX Runtime: `1.2.3`. */
    readonly runtimeVersion: string;
    /** ONNX Runtime's JavaScript. */
    readonly script: () => string;
    /** ONNX Runtime's WebAssembly. */
    readonly binary: {
        readonly url: () => string;
        readonly sizeBytes: number;
        readonly sha256: string;
    };
    readonly makeWorker: () => Worker;
}
/** How a page runs the models of a package. */
export interface PageOptions {
    /**
     * Address of a copy of this whole package, ending in `/`, for pages whose bundler does not copy files of packages:
     * `/models/vision/`. By default files are where the bundler, or the server of the modules, has them.
     */
    readonly base?: string;
    /** Whether models run in a worker, so that the page stays responsive: true by default. Node has none. */
    readonly worker?: boolean;
    /**
     * Threads of ONNX Runtime for all models. More than one need a page that is cross-origin isolated; there the default is
     * one for each core, four at most.
     */
    readonly threads?: number;
    /** Whether the browser keeps the files of models for the next visit: true by default. */
    readonly cache?: boolean;
}
/** @throws ModelError `bad-options` */
export declare function checkPageOptions(options: unknown): asserts options is PageOptions;
/** Threads that ONNX Runtime can have: without isolation browsers share no memory between workers. */
export declare function threadsOf({ threads }: PageOptions): number;
