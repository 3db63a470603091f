import type { KeptFiles } from '../../runtime/backend.js';
import type { Readable, Sink } from './patching.js';
/** Size of a piece, the same as that of downloads. */
export declare const PIECE_BYTES: number;
/** Pieces that a cache has: of each file, their offsets. */
export declare class Pieces {
    readonly kept: KeptFiles;
    private readonly name;
    private readonly caches;
    constructor(name: string, caches: CacheStorage);
    /** SHA-256 of all files of which there is a piece. */
    names(): Promise<readonly string[]>;
    /** The file, which is read piece by piece; null where one is missing. */
    file(sha256: string): Promise<Readable | null>;
    private offsets;
    private match;
}
/** Reads a file of pieces. The last two that were read stay in memory: deltas go forwards, mostly. */
export declare class KeptFile implements Readable {
    readonly sizeBytes: number;
    private readonly kept;
    private readonly sha256;
    private readonly pieces;
    constructor(kept: KeptFiles, sha256: string, sizeBytes: number);
    read(offset: number, into: Uint8Array): Promise<void>;
    private piece;
}
/** Writes a file in pieces. */
export declare class PieceWriter implements Sink {
    private readonly kept;
    private readonly sha256;
    private piece;
    private size;
    private start;
    constructor(kept: KeptFiles, sha256: string);
    write(bytes: Uint8Array): Promise<void>;
    /** Writes the last piece. */
    flush(): Promise<void>;
}
/** Bytes in memory. */
export declare class BytesInMemory implements Readable {
    private readonly bytes;
    constructor(bytes: ArrayBuffer);
    get sizeBytes(): number;
    read(offset: number, into: Uint8Array): Promise<void>;
}
/** The bytes of a file, piece by piece. */
export declare function piecesOf(file: Readable, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array<ArrayBuffer>, void>;
