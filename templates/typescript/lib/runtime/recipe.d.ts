import type { NumberArray, NumberType } from './tensor.js';
/** Four numbers of 64 bits. */
export declare const RECIPE_BYTES = 32;
/** Recipe of the values of a tensor. */
export interface Recipe {
    readonly seed: bigint;
    /** The least integer. */
    readonly low: bigint;
    /** Bound that all integers are below. */
    readonly high: bigint;
    /** At which distance the largest integer stands; 0 for nowhere in particular. */
    readonly row: bigint;
}
/** Reads a recipe: signed numbers of 64 bits, little-endian. */
export declare function readRecipe(bytes: DataView): Recipe;
/** The values that a recipe makes. */
export declare function make(type: NumberType, count: number, recipe: Recipe): NumberArray;
/** SplitMix64: the number `index` of those that follow `seed`. */
export declare function randomBits(seed: bigint, index: number): bigint;
