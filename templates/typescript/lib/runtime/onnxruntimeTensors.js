// From the layout of a run to tensors of ONNX Runtime's JavaScript API, and back.
import { ModelError } from './errors.js';
const ARRAYS = {
    float32: Float32Array,
    float64: Float64Array,
    int8: Int8Array,
    int16: Int16Array,
    int32: Int32Array,
    int64: BigInt64Array,
    uint8: Uint8Array,
    uint16: Uint16Array,
    uint32: Uint32Array,
    uint64: BigUint64Array,
    bool: Uint8Array,
};
/** The arrays of a type. Floats of 16 bits have one of their own in newer engines, and must have it there. */
function arrayFor(type) {
    const { Float16Array } = globalThis;
    const found = type === 'float16' ? (Float16Array ?? Uint16Array) : ARRAYS[type];
    if (found !== undefined)
        return found;
    throw new ModelError('unsupported', `ONNX Runtime for JavaScript has no tensors of ${type}`);
}
/** Reads `count` tensors of a layout: offset, length, rank and sizes of each. */
export function placedTensors(buffers, layout) {
    let next = 0;
    const take = () => {
        const value = layout[next];
        if (value === undefined)
            throw new ModelError('bad-input', 'the layout of a run ends too early');
        next += 1;
        return value;
    };
    const placed = buffers.map((buffer) => {
        const [byteOffset, byteLength] = [take(), take()];
        return { buffer, byteOffset, byteLength, shape: Array.from({ length: take() }, take) };
    });
    if (next !== layout.length)
        throw new ModelError('bad-input', 'the layout of a run is too long');
    return placed;
}
/** An input, read in place. */
export function inputTensor(ort, info, placed, texts) {
    const type = info.type ?? '';
    if (type === 'string')
        return new ort.Tensor(type, texts, placed.shape);
    const Numbers = arrayFor(type);
    const length = placed.byteLength / Numbers.BYTES_PER_ELEMENT;
    try {
        return new ort.Tensor(type, new Numbers(placed.buffer, placed.byteOffset, length), placed.shape);
    }
    catch (reason) {
        throw new ModelError('bad-input', `input \`${info.name}\`: ${String(reason)}`, { cause: reason });
    }
}
/** Values of an output. */
export function producedBy(tensor) {
    const { data, dims } = tensor;
    if (!ArrayBuffer.isView(data))
        return { bytes: null, texts: [...data], shape: [...dims] };
    return { bytes: new Uint8Array(data.buffer, data.byteOffset, data.byteLength), texts: [], shape: [...dims] };
}
/** Copies an output to the app's memory. */
export function write(name, made, into) {
    const isFitting = made.shape.length === into.shape.length && made.shape.every((size, axis) => size === into.shape[axis]);
    if (made.bytes?.byteLength !== into.byteLength || !isFitting) {
        const found = `[${made.shape.join(', ')}]`;
        throw new ModelError('bad-input', `output \`${name}\` has shape ${found}, its memory is for [${into.shape.join(', ')}]`);
    }
    new Uint8Array(into.buffer, into.byteOffset, into.byteLength).set(made.bytes);
}
