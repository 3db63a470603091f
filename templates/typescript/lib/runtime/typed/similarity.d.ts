import { type Ranked } from './ranking.js';
/** Compares embeddings. */
export declare const Similarity: {
    /**
     * The cosine of the angle between two vectors, from -1 to 1: 1 where they point the same way, 0 where one of them is
     * zero.
     *
     * @throws ModelError `bad-input` for vectors of different lengths
     */
    cosine(first: Float32Array, second: Float32Array): number;
    /**
     * The places of the `count` vectors that are most like `query`, with their cosines: best first, and of equal ones the
     * first.
     *
     * @throws ModelError `bad-input` for vectors of different lengths, `bad-options` for what is no number of vectors
     */
    nearest(query: Float32Array, vectors: readonly Float32Array[], count: number): readonly Ranked[];
};
