// Copies of what an app passes, which it may change while a call waits.
const NOWHERE = () => false;
/** A copy of arrays, and of objects that hold them; arrays over native memory are not copied. */
export function copied(given, isNative = NOWHERE) {
    return Object.fromEntries(Object.entries(given).map(([key, value]) => [key, copyOf(value, isNative)]));
}
function copyOf(value, isNative) {
    if (typeof value !== 'object' || value === null)
        return value;
    if (ArrayBuffer.isView(value) && isNative(value.buffer))
        return value;
    if ('slice' in value && typeof value.slice === 'function')
        return value.slice();
    return copied(value, isNative);
}
