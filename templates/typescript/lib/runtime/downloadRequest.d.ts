/** A piece of a file on a server. */
export interface WantedPiece {
    readonly url: string;
    readonly offset: number;
    readonly length: number;
    /** Of the whole file, in bytes, as the package knows it. */
    readonly sizeBytes: number;
    /** ETag of the pieces that are there already; empty when there is none. */
    readonly tag: string;
}
/** How an answer is waited for. */
export interface Waiting {
    readonly signal: AbortSignal;
    /** An answer that brings nothing for so long is given up, in milliseconds. */
    readonly stallMs: number;
    /** Called with the number of bytes that have come. */
    readonly onBytes: (received: number) => void;
}
/** A piece of a file, as the server sent it. */
export interface Piece {
    readonly bytes: ArrayBuffer;
    /** Of its first byte in the file. 0 for a whole file, which is what servers send that know no pieces. */
    readonly offset: number;
    /** ETag of the file; empty when there is none. */
    readonly tag: string;
}
/** No answer, or none that can be used: the same request may succeed later. */
export declare class Interruption extends Error {
}
/** The server no longer has the file that the first pieces are of. */
export declare class FileChanged extends Error {
}
/** Of servers that are busy, or have an error that may pass. */
export declare const PASSING: ReadonlySet<number>;
/**
 * Asks for a piece.
 *
 * @throws Interruption and FileChanged; ModelError `cancelled`, `corrupted` or `network` where asking again is no use
 */
export declare function requestPiece(wanted: WantedPiece, waiting: Waiting): Promise<Piece>;
/** Whether nobody on the way can read or change what is sent. */
export declare function isSecure(address: string | null | undefined): boolean;
