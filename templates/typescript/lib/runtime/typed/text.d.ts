/** A text that a model read. */
export interface Reading {
    readonly text: string;
    /** The model's mean confidence in its symbols; 0 when it read nothing. */
    readonly score: number;
}
/** The text that `symbols`, positions in `alphabet`, are. */
export declare function readingOf(symbols: BigInt64Array, scores: Float32Array, alphabet: readonly string[]): Reading;
