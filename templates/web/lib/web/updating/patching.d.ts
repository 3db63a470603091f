type Bytes = Uint8Array<ArrayBuffer>;
/** Bytes at any place, of a file that was checked. */
export interface Readable {
    readonly sizeBytes: number;
    read(offset: number, into: Uint8Array): Promise<void>;
}
/** Takes the bytes of a file one after the other. */
export interface Sink {
    write(bytes: Uint8Array): Promise<void>;
}
/** Result that is wanted: SHA-256 in hexadecimal. */
export interface Wanted {
    readonly source: string;
    readonly result: string;
    readonly resultBytes: number;
}
/**
 * Writes the result of a delta, in pieces; it is right once this has ended.
 *
 * @param source - its SHA-256 is checked here, before anything is written
 * @throws ModelError `corrupted`
 */
export declare function applyDelta(delta: AsyncGenerator<Bytes, void>, source: Readable, wanted: Wanted, sink: Sink): Promise<void>;
export {};
