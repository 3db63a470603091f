/** Files of a package, by their addresses: bundlers replace them. */
export interface Site {
    readonly packageName: string;
    /** Version of ONNX Runtime: `1.2.3`. */
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
/** Whether an address is of the page's origin. A program without a page, such as Node's, has files alone. */
export declare function isOfPage(url: string): boolean;
/**
 * Threads that ONNX Runtime can have, whose JavaScript is at `script`: without isolation browsers share no memory between
 * workers, and ONNX Runtime starts no thread from another origin.
 */
export declare function threadsOf({ threads }: PageOptions, script: string): number;
