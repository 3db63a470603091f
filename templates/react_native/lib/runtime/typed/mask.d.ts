import type { Tensor } from '../tensor.js';
/** What a model sees at each place: the value of a place is at `y * width + x`. */
export interface Mask {
    readonly width: number;
    readonly height: number;
    /** The best class of each place; of a model with one class, 1 where it is and 0 elsewhere. */
    readonly classes: Uint8Array;
    /** How sure the model is of it. */
    readonly scores: Float32Array;
    /** What the classes are called; empty when they have no names. */
    readonly labels: readonly string[];
}
type Places<Type extends 'uint8' | 'float32'> = Tensor<Type, readonly [number, number]>;
/** A mask of the model's two tensors. */
export declare function segmented(classes: Places<'uint8'>, scores: Places<'float32'>, labels: readonly string[]): Mask;
export {};
