// The arrays that tensors are made of.
const halves = { arrayName: 'Uint16Array', sizeBytes: 2, over: (buffer) => new Uint16Array(buffer) };
const bytes = { arrayName: 'Uint8Array', sizeBytes: 1, over: (buffer) => new Uint8Array(buffer) };
/** Every type but strings. */
export const ELEMENTS = {
    float32: { arrayName: 'Float32Array', sizeBytes: 4, over: (buffer) => new Float32Array(buffer) },
    float64: { arrayName: 'Float64Array', sizeBytes: 8, over: (buffer) => new Float64Array(buffer) },
    float16: halves,
    bfloat16: halves,
    int8: { arrayName: 'Int8Array', sizeBytes: 1, over: (buffer) => new Int8Array(buffer) },
    int16: { arrayName: 'Int16Array', sizeBytes: 2, over: (buffer) => new Int16Array(buffer) },
    int32: { arrayName: 'Int32Array', sizeBytes: 4, over: (buffer) => new Int32Array(buffer) },
    int64: { arrayName: 'BigInt64Array', sizeBytes: 8, over: (buffer) => new BigInt64Array(buffer) },
    uint8: bytes,
    uint16: halves,
    uint32: { arrayName: 'Uint32Array', sizeBytes: 4, over: (buffer) => new Uint32Array(buffer) },
    uint64: { arrayName: 'BigUint64Array', sizeBytes: 8, over: (buffer) => new BigUint64Array(buffer) },
    bool: bytes,
};
/** Whether elements of a type lie in memory as numbers. */
export function isNumberType(type) {
    return type !== 'string';
}
/** New memory for `count` elements, all zero. */
export function newArray(type, count) {
    const { over, sizeBytes } = ELEMENTS[type];
    return over(new ArrayBuffer(count * sizeBytes));
}
/** The number of values of a tensor; 1 for a scalar. */
export function countOf(shape) {
    return shape.reduce((count, size) => count * size, 1);
}
