// The rows of a picture's pixels in memory, and the part of them that a model takes.
import { ModelError } from '../errors.js';
import { nameOf } from '../feeding.js';
import { allocate } from '../memory.js';
/**
 * The rows, checked.
 *
 * @param size - for an error's words
 * @throws ModelError `bad-input`: the rows are too short, or the bytes too few
 */
export function planeOf(what, size, { bytes, rowBytes, rowName, row, rows, bytesPerPixel }) {
    if (rowBytes === undefined) {
        if (bytes.length === row * rows)
            return { bytes, rowBytes: row, bytesPerPixel };
        const words = `${size} are ${String(row * rows)} bytes, and its data has ${String(bytes.length)}`;
        throw refused(what, `${words}: for rows with gaps between them say ${rowName}`);
    }
    if (!Number.isSafeInteger(rowBytes) || rowBytes < row) {
        throw refused(what, `has ${rowName} ${String(rowBytes)}, and a row of ${size} has ${String(row)} bytes`);
    }
    const needed = rowBytes * (rows - 1) + row;
    if (bytes.length >= needed)
        return { bytes, rowBytes, bytesPerPixel };
    const words = `${size} in rows of ${String(rowBytes)} bytes need ${String(needed)} bytes`;
    throw refused(what, `${words}, and its data has ${String(bytes.length)}`);
}
/** The bytes where they lie. Arrays may come from another realm, as in tests with Jest: their names tell what they are. */
export function bytesOf(what, data) {
    const name = nameOf(data);
    if (ArrayBuffer.isView(data) && ['Uint8Array', 'Uint8ClampedArray'].includes(name)) {
        return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    }
    if (name === 'ArrayBuffer')
        return new Uint8Array(data);
    throw refused(what, `takes its data as a Uint8Array, a Uint8ClampedArray or an ArrayBuffer, found ${name}`);
}
/** The bytes of a region: where they lie when its rows follow each other, else copied to native memory. */
export function tensorOf({ bytes, rowBytes, bytesPerPixel }, region) {
    const width = region.right - region.left;
    const rows = region.bottom - region.top;
    const start = region.top * rowBytes + region.left * bytesPerPixel;
    const length = width * bytesPerPixel;
    const shape = [rows, width, bytesPerPixel];
    if (length === rowBytes || rows === 1)
        return { data: bytes.subarray(start, start + rows * length), shape };
    const copy = allocate('uint8', rows * length);
    for (let row = 0; row < rows; row++) {
        const from = start + row * rowBytes;
        copy.set(bytes.subarray(from, from + length), row * length);
    }
    return { data: copy, shape };
}
export function refused(what, words) {
    return new ModelError('bad-input', `picture \`${what}\` ${words}`);
}
