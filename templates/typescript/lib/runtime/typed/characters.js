// From a text to the tensor of a model: its code points.
import { ModelError } from '../errors.js';
import { nameOf } from '../feeding.js';
/** More than one UTF-16 code unit is needed from here on. */
const SUPPLEMENTARY = 0x10000;
/**
 * The code points of a text; -1 for an empty one. A lone surrogate is a code point of its own.
 *
 * @param what - the parameter that has it, for an error's words
 * @throws ModelError `bad-input` for anything but a string
 */
export function textTensor(what, text) {
    const given = text;
    if (typeof given !== 'string') {
        throw new ModelError('bad-input', `text \`${what}\` takes a string, found ${nameOf(given)}`);
    }
    if (text.length === 0)
        return { data: Int32Array.of(-1), shape: [1] };
    const points = new Int32Array(text.length);
    let count = 0;
    for (let index = 0; index < text.length; count += 1) {
        const point = text.codePointAt(index) ?? 0;
        points[count] = point;
        index += point < SUPPLEMENTARY ? 1 : 2;
    }
    return { data: points.slice(0, count), shape: [count] };
}
