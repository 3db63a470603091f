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
        return [numberOf(value.buffer), value.byteOffset, value.byteLength];
    // Not instanceof: memory may come from another realm.
    if (Object.prototype.toString.call(value) === '[object ArrayBuffer]')
        return [numberOf(value)];
    return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}
function numberOf(memory) {
    const known = numbers.get(memory);
    if (known !== undefined)
        return known;
    last += 1;
    numbers.set(memory, last);
    return last;
}
