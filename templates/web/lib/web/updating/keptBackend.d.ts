import { type Backend } from '../../runtime/backend.js';
/** Gives a file that is kept, checked, by its SHA-256 and its size in bytes. */
type Read = (sha256: string, sizeBytes: number) => Promise<ArrayBuffer>;
/** `inner`, which finds all files among those that are kept. */
export declare function keptBackend(inner: Backend, read: Read): Backend;
export {};
