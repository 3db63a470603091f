// Options of a call of a model.

import { ModelError } from '../errors.js';

/** Options of a call. */
export interface CallOptions {
  /** Ends the call at the model's next operator; it is then rejected with `cancelled`. */
  readonly signal?: AbortSignal;
}

/** Options of `classifySync`. */
export interface ClassifySyncOptions {
  /** The largest number of classes, best first. */
  readonly top?: number;
}

/** Options of `classify`. */
export interface ClassifyOptions extends CallOptions, ClassifySyncOptions {}

/**
 * How many classes a call gives: `usual` when it does not say.
 *
 * @throws ModelError `bad-options` for what is no number of classes
 */
export function topOf(options: ClassifySyncOptions, usual: number): number {
  const { top = usual } = options;
  if ((Number.isSafeInteger(top) && top >= 1) || top === Infinity) return top;
  throw new ModelError('bad-options', `top is ${String(top)}, which is no whole number from 1 on`);
}
