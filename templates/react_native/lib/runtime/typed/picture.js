// From a picture, as cameras, canvases and decoders have it, to the tensors of a model.
import { ModelError } from '../errors.js';
import { nameOf } from '../feeding.js';
import { allocate } from '../memory.js';
const FORMATS = {
    rgba: { bytesPerPixel: 4, channels: [0n, 1n, 2n] },
    bgra: { bytesPerPixel: 4, channels: [2n, 1n, 0n] },
    argb: { bytesPerPixel: 4, channels: [1n, 2n, 3n] },
    rgb: { bytesPerPixel: 3, channels: [0n, 1n, 2n] },
    bgr: { bytesPerPixel: 3, channels: [2n, 1n, 0n] },
    grey: { bytesPerPixel: 1, channels: [0n, 0n, 0n] },
};
/** From 1 on, as Exif numbers them. */
const ORIENTATIONS = [
    'up',
    'upMirrored',
    'down',
    'downMirrored',
    'leftMirrored',
    'right',
    'rightMirrored',
    'left',
];
/**
 * The tensors of a picture.
 *
 * @param what - the parameter that has it, for an error's words
 * @throws ModelError `bad-input`, saying what is wrong with the picture
 */
export function pictureTensors(what, picture) {
    const given = picture;
    if (typeof given !== 'object' || given === null || !('data' in given)) {
        throw refused(what, `takes a picture, { data, width, height }, found ${nameOf(given)}`);
    }
    const { width, height, format = 'rgba', orientation = 'up' } = picture;
    checkSize(what, 'width', width);
    checkSize(what, 'height', height);
    const layout = layoutOf(what, format);
    const bytes = bytesOf(what, picture.data);
    const rowBytes = rowBytesOf(what, picture, layout, bytes);
    const region = regionOf(what, picture);
    return {
        pixels: {
            data: withoutGaps(bytes, rowBytes, region, layout.bytesPerPixel),
            shape: [region.bottom - region.top, region.right - region.left, layout.bytesPerPixel],
        },
        channels: BigInt64Array.from(layout.channels),
        orientation: BigInt64Array.of(orientationOf(what, orientation)),
    };
}
function checkSize(what, name, size) {
    if (Number.isSafeInteger(size) && size >= 1)
        return;
    throw refused(what, `has ${name} ${String(size)}, which is no whole number from 1 on`);
}
function layoutOf(what, format) {
    const found = Object.entries(FORMATS).find(([name]) => name === format);
    if (found !== undefined)
        return found[1];
    throw refused(what, `has format '${format}', which is none of ${Object.keys(FORMATS).join(', ')}`);
}
/** The bytes where they lie. Arrays may come from another realm, as in tests with Jest: their names tell what they are. */
function bytesOf(what, data) {
    const name = nameOf(data);
    if (ArrayBuffer.isView(data) && ['Uint8Array', 'Uint8ClampedArray'].includes(name)) {
        return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    }
    if (name === 'ArrayBuffer')
        return new Uint8Array(data);
    throw refused(what, `takes its data as a Uint8Array, a Uint8ClampedArray or an ArrayBuffer, found ${name}`);
}
function rowBytesOf(what, picture, { bytesPerPixel }, bytes) {
    const { width, height, format = 'rgba', rowBytes } = picture;
    const shortest = width * bytesPerPixel;
    const size = `${String(width)} x ${String(height)} pixels of ${format}`;
    if (rowBytes === undefined) {
        if (bytes.length === shortest * height)
            return shortest;
        const words = `${size} are ${String(shortest * height)} bytes, and its data has ${String(bytes.length)}`;
        throw refused(what, `${words}: for rows with gaps between them say rowBytes`);
    }
    if (!Number.isSafeInteger(rowBytes) || rowBytes < shortest) {
        const row = `${String(width)} pixels of ${format} has ${String(shortest)} bytes`;
        throw refused(what, `has rowBytes ${String(rowBytes)}, and a row of ${row}`);
    }
    const needed = rowBytes * (height - 1) + shortest;
    if (bytes.length >= needed)
        return rowBytes;
    const words = `${size} in rows of ${String(rowBytes)} bytes need ${String(needed)} bytes`;
    throw refused(what, `${words}, and its data has ${String(bytes.length)}`);
}
function regionOf(what, { width, height, region }) {
    if (region === undefined)
        return { left: 0, top: 0, right: width, bottom: height };
    const given = region;
    if (typeof given !== 'object' || given === null)
        throw refused(what, `has region ${String(given)}, which has no edges`);
    const { left, top, right, bottom } = region;
    const isWhole = [left, top, right, bottom].every((edge) => Number.isSafeInteger(edge));
    if (isWhole && 0 <= left && left < right && right <= width && 0 <= top && top < bottom && bottom <= height) {
        return region;
    }
    const edges = `left ${String(left)}, top ${String(top)}, right ${String(right)}, bottom ${String(bottom)}`;
    throw refused(what, `has region ${edges}, which is no part of ${String(width)} x ${String(height)} pixels`);
}
function orientationOf(what, orientation) {
    const index = typeof orientation === 'number' ? orientation - 1 : ORIENTATIONS.indexOf(orientation);
    if (ORIENTATIONS[index] !== undefined)
        return BigInt(index + 1);
    throw refused(what, `has orientation ${String(orientation)}, which is none of 1 to 8 and ${ORIENTATIONS.join(', ')}`);
}
/** The bytes of a region: where they lie when its rows follow each other, else copied to native memory. */
function withoutGaps(bytes, rowBytes, region, bytesPerPixel) {
    const start = region.top * rowBytes + region.left * bytesPerPixel;
    const length = (region.right - region.left) * bytesPerPixel;
    const rows = region.bottom - region.top;
    if (length === rowBytes || rows === 1)
        return bytes.subarray(start, start + rows * length);
    const copy = allocate('uint8', rows * length);
    for (let row = 0; row < rows; row++) {
        const from = start + row * rowBytes;
        copy.set(bytes.subarray(from, from + length), row * length);
    }
    return copy;
}
function refused(what, words) {
    return new ModelError('bad-input', `picture \`${what}\` ${words}`);
}
