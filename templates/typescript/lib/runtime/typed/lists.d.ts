import type { Shaped } from '../tensor.js';
import { type Ranked } from './ranking.js';
/** A text, or a list of texts. */
export type Texts = string | readonly string[];
/**
 * The code points of one text or several.
 *
 * @param what - the parameter that has them, for an error's words
 * @throws ModelError `bad-input` for anything but a string, or a list of strings
 */
export declare function textsTensor(what: string, texts: Texts): Shaped<'int32', readonly [number]>;
/**
 * The number of results for texts, or for pairs of texts. A list of one text goes with each text of the other list.
 *
 * @throws ModelError `bad-input` for lists of other lengths
 */
export declare function rowCount(...given: readonly Texts[]): number;
/** The result of one text, or of each of a list: `resultOf` the tensors of its row. */
export declare function resultsOf<Outputs extends object, Result>(outputs: Outputs, given: readonly Texts[], resultOf: (outputs: Outputs) => Result): Result | readonly Result[];
/** The places of `documents` by the scores that `scored` gives to some of them at once. */
export declare function rankedInLists(documents: readonly string[], scored: (documents: readonly string[]) => Promise<readonly number[]>): Promise<readonly Ranked[]>;
