// Several texts in one run of a model, and a result for each.

import { ModelError } from '../errors.js';
import { nameOf } from '../feeding.js';
import type { AnyTensor, Shaped } from '../tensor.js';
import { textTensor } from './characters.js';
import { ranked, type Ranked } from './ranking.js';

/** A text, or a list of texts. */
export type Texts = string | readonly string[];

/** Stands between the code points of two texts. */
const BETWEEN = -2;
/** Documents of one run. */
const RANKED_AT_ONCE = 8;

/**
 * The code points of one text or several.
 *
 * @param what - the parameter that has them, for an error's words
 * @throws ModelError `bad-input` for anything but a string, or a list of strings
 */
export function textsTensor(what: string, texts: Texts): Shaped<'int32', readonly [number]> {
  if (typeof texts === 'string') return textTensor(what, texts);
  const given: unknown = texts;
  if (!Array.isArray(given)) {
    throw new ModelError('bad-input', `text \`${what}\` takes a string or a list of them, found ${nameOf(given)}`);
  }
  const parts = texts.map((text) => textTensor(what, text).data);
  const data = new Int32Array(parts.reduce((size, part) => size + part.length + 1, 0) - 1).fill(BETWEEN);
  let place = 0;
  for (const part of parts) {
    data.set(part, place);
    place += part.length + 1;
  }
  return { data, shape: [data.length] };
}

/**
 * The number of results for texts, or for pairs of texts. A list of one text goes with each text of the other list.
 *
 * @throws ModelError `bad-input` for lists of other lengths
 */
export function rowCount(...given: readonly Texts[]): number {
  const sizes = given.map((texts) => (Array.isArray(texts) ? texts.length : 1));
  const most = Math.max(...sizes);
  if (sizes.includes(0) && most <= 1) return 0;
  if (!sizes.every((size) => size === most || size === 1)) {
    const words = `${sizes.join(' and ')} texts are no pairs: pass as many of each, or one`;
    throw new ModelError('bad-input', words);
  }
  return most;
}

/** The result of one text, or of each of a list: `resultOf` the tensors of its row. */
export function resultsOf<Outputs extends object, Result>(
  outputs: Outputs,
  given: readonly Texts[],
  resultOf: (outputs: Outputs) => Result,
): Result | readonly Result[] {
  const count = rowCount(...given);
  const results = Array.from({ length: count }, (_, row) => resultOf(rowOf(outputs, row, count)));
  const [first] = results;
  return given.every((texts) => typeof texts === 'string') && first !== undefined ? first : results;
}

/** One row of every tensor. */
function rowOf<Outputs extends object>(outputs: Outputs, row: number, count: number): Outputs {
  const rows = Object.entries(outputs as Readonly<Record<string, AnyTensor>>).map(([name, tensor]) => {
    const size = tensor.data.length / count;
    const data = tensor.data.slice(size * row, size * (row + 1));
    return [name, { type: tensor.type, data, shape: [1, ...tensor.shape.slice(1)] }] as const;
  });
  return Object.fromEntries(rows) as Outputs;
}

/** The places of `documents` by the scores that `scored` gives to some of them at once. */
export async function rankedInLists(
  documents: readonly string[],
  scored: (documents: readonly string[]) => Promise<readonly number[]>,
): Promise<readonly Ranked[]> {
  const scores: number[] = [];
  for (let first = 0; first < documents.length; first += RANKED_AT_ONCE) {
    scores.push(...(await scored(documents.slice(first, first + RANKED_AT_ONCE))));
  }
  return ranked(scores);
}
