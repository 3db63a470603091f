import type { Part, Place } from './backend.js';
/** Where the files of a package are: one of both is needed for models that are `'bundled'`. */
export interface OnnxRuntimeOptions {
    /** Address of a folder with the files of this package's `models`, for browsers: `/models/`. */
    readonly models?: string;
    /**
     * Reads a file, for Node. It gets the name of a file of this package, or the path that the app gave.
     *
     * ```ts
     * setOnnxRuntime(ort, { read: (file) => readFile(resolve(folder, file)) });
     * ```
     */
    readonly read?: (file: string) => Promise<Uint8Array>;
}
/** Says where a file of the package lies: an address, or what `read` gets. */
export declare function locateFile({ models, read }: OnnxRuntimeOptions, path: string): Place;
/** The bytes of a part, checked. */
export declare function bytesOf(part: Part, options: OnnxRuntimeOptions): Promise<Uint8Array<ArrayBuffer>>;
/** The bytes of `all` that `part` is, checked. */
export declare function checkedPart(part: Part, all: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>>;
/** Every byte of a file. */
export declare function read(path: string, options: OnnxRuntimeOptions): Promise<Uint8Array<ArrayBuffer>>;
