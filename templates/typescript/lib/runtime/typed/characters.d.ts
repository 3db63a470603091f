import type { Shaped } from '../tensor.js';
/**
 * The code points of a text; -1 for an empty one. A lone surrogate is a code point of its own.
 *
 * @param what - the parameter that has it, for an error's words
 * @throws ModelError `bad-input` for anything but a string
 */
export declare function textTensor(what: string, text: string): Shaped<'int32', readonly [number]>;
