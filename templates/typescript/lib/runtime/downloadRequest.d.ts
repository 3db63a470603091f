/** A piece of a file on a server. */
export interface WantedPiece {
    readonly url: string;
    readonly offset: number;
    readonly length: number;
    /** Size of the whole file, in bytes, as the package knows it. */
    readonly sizeBytes: number;
    /** ETag of the pieces that are there already; empty when there is none. */
    readonly tag: string;
}
/** For a file, before bytes earn more. */
export declare const FILE_MS = 120000;
/** The end of a download: a server that sends a byte now and then must not hold it for hours. */
export declare class Deadline {
    private readonly began;
    private readonly ms;
    private readonly from;
    private most;
    /** @param from - bytes that are there already: those beyond them earn more than the `ms` */
    constructor(ms: number, from: number);
    /** The file has come up to byte `size`: what comes twice earns nothing. */
    reached(size: number): void;
    /** How long to wait for the next bytes: `stallMs`, or a little beyond the end, because timers may be early. */
    waitMs(stallMs: number): number;
    /** @throws ModelError `network` after the end */
    check(url: string): void;
    private leftMs;
}
/** How an answer is waited for. */
export interface Waiting {
    readonly signal: AbortSignal;
    /** An answer that brings nothing for so long is given up, in milliseconds. */
    readonly stallMs: number;
    readonly deadline: Deadline;
    /** Called with the number of bytes that have come. */
    readonly onBytes: (received: number) => void;
}
/** A piece of a file, as the server sent it. */
export interface Piece {
    readonly bytes: ArrayBuffer;
    /** Offset of its first byte in the file. 0 for a whole file, which is what servers send that know no pieces. */
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
/** Answers of servers that are busy, or have an error that may pass. */
export declare const PASSING: ReadonlySet<number>;
/**
 * Asks for a piece.
 *
 * @throws Interruption and FileChanged; ModelError `cancelled`, `corrupted` or `network` where asking again is no use
 */
export declare function requestPiece(wanted: WantedPiece, waiting: Waiting): Promise<Piece>;
/** Whether nobody on the way can read or change what is sent. */
export declare function isSecure(address: string | null | undefined): boolean;
