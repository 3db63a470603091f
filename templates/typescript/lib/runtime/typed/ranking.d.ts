/** An element of a list, and its score. */
export interface Ranked {
    /** Its place in the list, from 0 on. */
    readonly index: number;
    readonly score: number;
}
/** The only one of `scores`. */
export declare function scoreOf(scores: Float32Array): number;
/** The places of `scores`, best first; of equal ones the first comes first, and what is no number counts as lowest. */
export declare function ranked(scores: readonly number[]): readonly Ranked[];
/** The places of `documents` by the scores that `scored` gives to one after the other. */
export declare function rankedBy(documents: readonly string[], scored: (document: string) => Promise<number>): Promise<readonly Ranked[]>;
