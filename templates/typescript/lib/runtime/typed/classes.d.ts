/** A class that a model predicts. */
export interface Classification {
    /** Its name; empty when the model's classes have no names. */
    readonly label: string;
    /** Its number among the model's classes, from 0 on. */
    readonly index: number;
    /** The model's confidence. */
    readonly score: number;
}
/** The classes of `scores` with `threshold` or more: the best `top`, best first, and of equal ones the first. */
export declare function classificationsOf(scores: Float32Array, labels: readonly string[], top: number, threshold: number): readonly Classification[];
