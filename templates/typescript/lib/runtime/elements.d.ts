import type { ElementType, NumberArray, NumberType, Shape } from './tensor.js';
/** How elements of a type lie in memory. */
export interface Element {
    /** Name of its array: `Float32Array`. */
    readonly arrayName: string;
    readonly sizeBytes: number;
    /** A new array over a whole buffer. */
    readonly over: (buffer: ArrayBuffer) => NumberArray;
}
/** Every type but strings. */
export declare const ELEMENTS: Readonly<Record<NumberType, Element>>;
/** Whether elements of a type lie in memory as numbers. */
export declare function isNumberType(type: ElementType): type is NumberType;
/** New memory for `count` elements, all zero. */
export declare function newArray(type: NumberType, count: number): NumberArray;
/** The number of values of a tensor; 1 for a scalar. */
export declare function countOf(shape: Shape): number;
