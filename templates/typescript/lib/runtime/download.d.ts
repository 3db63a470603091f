import type { Engine } from './backend.js';
/** A file to download, and where it is to be. */
export interface Download {
    readonly url: string;
    /** Absolute. Until all of it is there and was checked, the file is called `<path>.part`. */
    readonly path: string;
    readonly sizeBytes: number;
    /** In hexadecimal. */
    readonly sha256: string;
}
/** Where files are kept. */
export type Store = Pick<Engine, 'fileSize' | 'writePart' | 'finishPart' | 'removeFile'>;
/** Who waits for a download. */
export interface Watcher {
    readonly signal: AbortSignal | undefined;
    /** Called with the number of bytes that are there, those of earlier times included. */
    readonly onBytes: (loadedBytes: number) => void;
}
/** How fast to go, and when to give up. */
export interface Pace {
    /** Size of the pieces that are asked for: they start with the largest, and are halved where a network is bad. */
    readonly largestPieceBytes: number;
    readonly smallestPieceBytes: number;
    /** An answer that brings nothing for so long is given up. */
    readonly stallMs: number;
    /** For a file with all its pieces and attempts; bytes that come earn more. */
    readonly fileMs: number;
    /** Before the second request for a piece; twice as long before each further one. */
    readonly firstPauseMs: number;
    /** Requests for the same piece. */
    readonly attempts: number;
}
/** Paths of files that are being downloaded. */
export declare function pathsUnderWay(): readonly string[];
/**
 * Downloads a file unless it is there. Who asks for one that is on its way waits for that; when nobody waits any more, it
 * ends, and what has come is kept for the next time.
 *
 * @throws ModelError `network`, `corrupted`, `no-space`, `unreadable` or `cancelled`
 */
export declare function download(wanted: Download, store: Store, watcher: Watcher, pace?: Pace): Promise<void>;
