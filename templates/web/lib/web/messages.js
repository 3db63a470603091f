// What a page and its worker tell each other.
import { ModelError, toModelError } from '../runtime/errors.js';
export function failureOf(thrown) {
    const { code, message } = toModelError(thrown);
    return { code, message };
}
export function errorOf({ code, message }) {
    return new ModelError(code, message);
}
