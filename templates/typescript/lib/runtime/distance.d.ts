import type { ElementType, NumberArray } from './tensor.js';
/** The difference between two tensors. */
export interface Distance {
    /** Values that differ and have no distance. */
    readonly mismatches: number;
    readonly largest: number;
}
/** Nothing differs. */
export declare const NO_DISTANCE: Distance;
/** Whether values may be a little off: integers of 8 bits are quantized numbers, longer ones name things. */
export declare function isMeasured(type: ElementType): boolean;
/**
 * How far numbers are from those that they must be; both have as many. `allowed` mismatches are those of numbers that
 * are not compared: the samples have infinity there. All of these count, so that no other number may be lost.
 */
export declare function distanceBetween(type: ElementType, expected: NumberArray, actual: NumberArray, allowed: number): Distance;
/** How many values differ, and those that only one of the two has. */
export declare function differing(expected: ArrayLike<unknown>, actual: ArrayLike<unknown>): number;
