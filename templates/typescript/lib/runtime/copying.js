// Copies of what an app passes, which it may change while a call waits.
/** A copy of arrays, and of objects that hold them. */
export function copied(given) {
    return Object.fromEntries(Object.entries(given).map(([key, value]) => [key, copyOf(value)]));
}
function copyOf(value) {
    if (typeof value !== 'object' || value === null)
        return value;
    if ('slice' in value && typeof value.slice === 'function')
        return value.slice();
    return copied(value);
}
