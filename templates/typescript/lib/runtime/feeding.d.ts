import type { TensorSpec } from './descriptor.js';
import type { ElementType, NumberArray, NumberType, Shape } from './tensor.js';
/** Numbers where they lie in memory of the app. */
export interface Numbers<Type extends ElementType = ElementType> {
    readonly type: Type;
    readonly array: NumberArray;
    readonly shape: Shape;
}
/** Strings: they have no memory that native code could read. */
export interface Texts {
    readonly values: readonly string[];
    readonly shape: Shape;
}
type Sizes = readonly (number | null)[];
/**
 * The numbers that `value`, an array or an array and its shape, is for a tensor.
 *
 * @param what - the tensor in an error's words: "input `x`"
 * @throws ModelError `bad-input`, saying what is expected and what was found
 */
export declare function numbersOf(what: string, spec: TensorSpec<NumberType>, value: unknown): Numbers<NumberType>;
/** The strings that `value`, an array or an array and its shape, is for a tensor. */
export declare function textsOf(what: string, spec: TensorSpec, value: unknown): Texts;
/** The names of tensors that a caller left out, or made up, are errors. */
export declare function checkKeys(what: string, known: readonly string[], given: unknown, isAllNeeded: boolean): void;
/** Sizes for people: `[?, 3, 224, 224]`. */
export declare function inWords(sizes: Sizes): string;
/** The name of an array's class, which is the same in every realm: a test's arrays may come from another one. */
export declare function nameOf(value: unknown): string;
export {};
