import type { KeptFiles, Part } from './backend.js';
/** A file on a server. */
export interface MemoryDownload {
    readonly url: string;
    /** In bytes; -1 where nobody knows. */
    readonly sizeBytes: number;
    /** In hexadecimal; empty for what is not checked. */
    readonly sha256: string;
    /** Whether the address and all that it leads to have to be https: ones. */
    readonly mustBeSecure: boolean;
}
/** Who waits for it. */
export interface MemoryWatcher {
    readonly signal: AbortSignal | undefined;
    readonly onBytes: (loadedBytes: number) => void;
}
/** Makes `bytes` those of `part`. */
export declare function keepInMemory(part: Part, bytes: ArrayBuffer): void;
/** The bytes of a part that is in memory. */
export declare function bytesInMemory(part: Part): ArrayBuffer | undefined;
/**
 * A file of the package: from what the browser kept of an earlier visit, else fetched, and then kept. It is checked either
 * way; what is damaged is fetched again.
 *
 * @throws ModelError as `fetchToMemory`
 */
export declare function fetchOnce(wanted: MemoryDownload, watcher: MemoryWatcher, kept: KeptFiles | null): Promise<ArrayBuffer>;
/**
 * Fetches a file and checks it.
 *
 * @throws ModelError `network`, `missing`, `corrupted` or `cancelled`
 */
export declare function fetchToMemory(wanted: MemoryDownload, watcher: MemoryWatcher): Promise<ArrayBuffer>;
/**
 * Checks bytes; a size of -1 and an empty `sha256` are not.
 *
 * @throws ModelError `corrupted`; `unsupported` where the browser has no SHA-256
 */
export declare function checkBytes(bytes: Uint8Array<ArrayBuffer>, sizeBytes: number, sha256: string, name: string): Promise<void>;
