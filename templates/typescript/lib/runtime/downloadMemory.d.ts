import type { Checked, Checksum, KeptFiles, Part } from './backend.js';
import { type MemoryWatcher } from './memoryFile.js';
import { type MemoryDownload } from './memoryRequest.js';
/** Makes `bytes` those of `part`. */
export declare function keepInMemory(part: Part, bytes: ArrayBuffer): void;
/** The bytes of a part that is in memory. */
export declare function bytesInMemory(part: Part): ArrayBuffer | undefined;
/**
 * A file of the package: what the browser kept of earlier visits, and the rest fetched, and then kept. All of it is checked;
 * what is damaged is fetched again.
 *
 * @param checksum - how the whole is checked, such as on another thread
 * @throws ModelError `network`, `missing`, `corrupted` or `cancelled`
 */
export declare function fetchOnce(wanted: MemoryDownload, watcher: MemoryWatcher, kept: KeptFiles | null, checksum?: Checksum): Promise<ArrayBuffer>;
/**
 * Fetches a file and checks it; nothing of it is kept.
 *
 * @throws ModelError as `fetchOnce`
 */
export declare function fetchToMemory(wanted: MemoryDownload, watcher: MemoryWatcher): Promise<ArrayBuffer>;
/** The SHA-256 of bytes, on the thread that asks for it: browsers copy them there. */
export declare function checksumHere(bytes: ArrayBuffer): Promise<Checked>;
/**
 * Checks bytes; a size of -1 and an empty `sha256` are not.
 *
 * @throws ModelError `corrupted`; `unsupported` where the browser has no SHA-256
 */
export declare function checkBytes(bytes: Uint8Array<ArrayBuffer>, sizeBytes: number, sha256: string, name: string): Promise<void>;
/**
 * The SHA-256 of bytes, in hexadecimal.
 *
 * @throws ModelError `unsupported` where the browser has none
 */
export declare function sha256Of(bytes: Uint8Array<ArrayBuffer>): Promise<string>;
