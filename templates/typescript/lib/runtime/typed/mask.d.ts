import type { Tensor } from '../tensor.js';
/** The class at each place: the value of a place is at `y * width + x`. */
export interface Mask {
    readonly width: number;
    readonly height: number;
    /** The best class of each place; of a model with one class, 1 where it is and 0 elsewhere. */
    readonly classes: Uint8Array;
    /** The model's confidence. */
    readonly scores: Float32Array;
    /** The names of the classes; empty when they have none. */
    readonly labels: readonly string[];
}
/** A mask of the model's two tensors. */
export declare function maskOf(classes: Tensor<'uint8', readonly [number, number]>, scores: Float32Array, labels: readonly string[]): Mask;
