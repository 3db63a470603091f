// Whether two options say the same, however they were made: components make them anew each time they are drawn.
const numbers = new WeakMap();
let last = 0;
/** Text that is the same for values of the same content. Memory is the same when it is the same memory. */
export function contentKey(value) {
    return JSON.stringify(value, (_, each) => comparable(each));
}
function comparable(value) {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
        return value;
    if (ArrayBuffer.isView(value))
        return [identityOf(value.buffer), value.byteOffset, value.byteLength];
    // Not instanceof: memory may come from another realm.
    if (Object.prototype.toString.call(value) === '[object ArrayBuffer]')
        return [identityOf(value)];
    return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}
/** A number that no other object has. */
export function identityOf(value) {
    const known = numbers.get(value);
    if (known !== undefined)
        return known;
    last += 1;
    numbers.set(value, last);
    return last;
}
