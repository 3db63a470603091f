import { type Deadline } from './downloadRequest.js';
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
/** Bytes that are asked for. */
export interface Gap {
    /** Offset of the first byte in the file. */
    readonly start: number;
    /** Offset of the first byte after them. */
    readonly end: number;
    /** ETag of the bytes that are there already; empty when there is none. */
    readonly tag: string;
    /** Whether an answer that the browser has stored will not do. */
    readonly isFresh: boolean;
}
/** Who takes the answer. */
export interface Taker {
    /** Aborts the request. */
    readonly signal: AbortSignal | undefined;
    /** An answer that brings nothing for so long is given up, in milliseconds. */
    readonly stallMs: number;
    readonly deadline: Deadline;
    /** Called before the first bytes: whether they are those of the whole file, and their ETag, empty when there is none. */
    begin(isWhole: boolean, tag: string): void;
    take(bytes: Uint8Array): void;
}
/**
 * Asks for `gap`, and hands over what comes.
 *
 * @throws Interruption and FileChanged; ModelError `cancelled`, `missing` or `network` where asking again is no use
 */
export declare function requestBytes(wanted: MemoryDownload, gap: Gap, taker: Taker): Promise<void>;
