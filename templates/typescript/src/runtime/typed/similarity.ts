// Comparing embeddings.

import { ModelError } from '../errors.js';
import { ranked, type Ranked } from './ranking.js';

/** Compares embeddings. */
export const Similarity = {
  /**
   * The cosine of the angle between two vectors, from -1 to 1: 1 where they point the same way, 0 where one of them is
   * zero.
   *
   * @throws ModelError `bad-input` for vectors of different lengths
   */
  cosine(first: Float32Array, second: Float32Array): number {
    if (first.length !== second.length) {
      const lengths = `${String(first.length)} and ${String(second.length)}`;
      throw new ModelError('bad-input', `vectors of ${lengths} numbers cannot be compared`);
    }
    const length = Math.sqrt(dot(first, first)) * Math.sqrt(dot(second, second));
    return length === 0 ? 0 : Math.fround(dot(first, second) / length);
  },

  /**
   * The places of the `count` vectors that are most like `query`, with their cosines: best first, and of equal ones the
   * first.
   *
   * @throws ModelError `bad-input` for vectors of different lengths, `bad-options` for what is no number of vectors
   */
  nearest(query: Float32Array, vectors: readonly Float32Array[], count: number): readonly Ranked[] {
    if (!(count === Infinity || (Number.isSafeInteger(count) && count >= 1))) {
      throw new ModelError('bad-options', `count is ${String(count)}, which is no whole number from 1 on`);
    }
    return ranked(vectors.map((vector) => Similarity.cosine(query, vector))).slice(0, count);
  },
};

/** Added up from the first on, so that the sum is the same on every platform. */
function dot(first: Float32Array, second: Float32Array): number {
  return first.reduce((sum, value, place) => sum + value * (second[place] ?? 0), 0);
}
