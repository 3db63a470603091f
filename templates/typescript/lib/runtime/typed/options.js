// Options of a call of a model.
import { ModelError } from '../errors.js';
/**
 * How many classes a call gives: `usual` when it does not say.
 *
 * @throws ModelError `bad-options` for what is no number of classes
 */
export function topOf(options, usual) {
    const { top = usual } = options;
    if ((Number.isSafeInteger(top) && top >= 1) || top === Infinity)
        return top;
    throw new ModelError('bad-options', `top is ${String(top)}, which is no whole number from 1 on`);
}
