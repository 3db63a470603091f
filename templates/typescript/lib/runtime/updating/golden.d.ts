import type { GoldenSample } from '../descriptor.js';
/**
 * Where the tensors of each sample lie. Names are `NUMBER.input.NAME`, `NUMBER.output.NAME`, and `NUMBER.recipe.NAME` for an
 * input that is made.
 *
 * @throws FormError; RangeError and SyntaxError for what is no such file
 */
export declare function samplesIn(bytes: ArrayBuffer): readonly GoldenSample[];
