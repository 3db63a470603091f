/** A class that a model sees. */
export interface Classification {
    /** What it is called; empty when the model's classes have no names. */
    readonly label: string;
    /** Its number among the model's classes, from 0 on. */
    readonly index: number;
    /** How sure the model is of it. */
    readonly score: number;
}
/** The classes of `scores` with `threshold` or more: the best `top`, best first, and of equal ones the first. */
export declare function classified(scores: Float32Array, labels: readonly string[], top: number, threshold: number): readonly Classification[];
