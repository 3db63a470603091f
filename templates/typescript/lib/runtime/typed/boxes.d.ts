/** A part of a picture, in pixels of the picture when it is upright. */
export interface Box {
    readonly left: number;
    readonly top: number;
    readonly right: number;
    readonly bottom: number;
}
/** A detected object. */
export interface Detection {
    /** The name of its class; empty when the model's classes have no names. */
    readonly label: string;
    /** The number of its class, from 0 on. */
    readonly index: number;
    /** The model's confidence. */
    readonly score: number;
    /** Where it is. */
    readonly box: Box;
}
/** The detected objects, in the model's order: `boxes` has four numbers for each. */
export declare function detectionsOf(boxes: Float32Array, scores: Float32Array, classes: BigInt64Array, labels: readonly string[]): readonly Detection[];
