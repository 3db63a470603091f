import type { KeptFiles } from './backend.js';
import { ModelError } from './errors.js';
import { type MemoryDownload } from './memoryRequest.js';
/** Who waits for it. */
export interface MemoryWatcher {
    readonly signal: AbortSignal | undefined;
    readonly onBytes: (loadedBytes: number) => void;
}
/** When to give up, and how much is lost where a page is left. */
export interface MemoryPace {
    /** Pieces are kept when all of them is there. */
    readonly pieceBytes: number;
    /** An answer that brings nothing for so long is given up. */
    readonly stallMs: number;
    /** For all of it, with all attempts; bytes that come earn more. */
    readonly fileMs: number;
    /** Before the second request; twice as long before each further one that brings nothing. */
    readonly firstPauseMs: number;
    /** Requests, one after the other, that bring nothing. */
    readonly attempts: number;
}
/** A file of a known size, in one buffer. */
export declare class MemoryFile {
    bytes: Uint8Array<ArrayBuffer>;
    private readonly wanted;
    private readonly watcher;
    private readonly kept;
    private readonly pace;
    /** By piece, how many of its bytes are there: its first ones. */
    private readonly counts;
    /** Settled when all pieces that have come are kept. */
    private keeping;
    /** Where the next bytes of an answer belong. */
    private position;
    private tag;
    /** Whether all that is there is of one file, as far as anybody knows. */
    private isOfOne;
    private hasReceived;
    private hasRestarted;
    private isMended;
    private failures;
    private deadline;
    constructor(wanted: MemoryDownload, watcher: MemoryWatcher, kept: KeptFiles | null, pace?: MemoryPace);
    /**
     * Gets all that is missing.
     *
     * @throws ModelError `network`, `missing`, `corrupted` or `cancelled`
     */
    fill(): Promise<void>;
    /**
     * Gets a file again whose bytes are not the right ones: pieces that the browser has damaged, else all of it, once.
     *
     * @throws ModelError as `fill`; `wrong` where the server has just sent all of it
     */
    mend(wrong: ModelError): Promise<void>;
    private readKept;
    private fetchMissing;
    /** The first bytes that are missing, up to the next piece of which some are there. */
    private gap;
    private fetch;
    private take;
    private keep;
    /** An answer has ended in order, but too soon. */
    private refuseEnd;
    /** Once: a file that changes time and again is not the one that is wanted. */
    private restart;
    private forget;
    /** Where nothing has come at all, asking again is no use: the page is offline, or may not ask. */
    private pause;
    private sleep;
    private piece;
    private lengthOf;
    private loadedBytes;
    private tell;
}
