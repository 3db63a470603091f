type Bytes = Uint8Array<ArrayBuffer>;
/** Reads what a stream of deflate holds. */
export declare class Inflated {
    private readonly reader;
    private chunk;
    /** `compressed` is read as far as its content is wanted. */
    constructor(compressed: AsyncGenerator<Bytes, void>);
    byte(): Promise<number>;
    /** Fills `into`. */
    fill(into: Uint8Array): Promise<void>;
    /** One byte at least, and `most` at most. */
    some(most: number): Promise<Uint8Array>;
    /** @throws ModelError `corrupted` unless the content ends here */
    end(): Promise<void>;
    /** Frees what is left. */
    close(): void;
    private next;
}
export {};
