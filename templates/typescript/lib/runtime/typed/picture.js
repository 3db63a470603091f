// From a picture, as cameras, canvases and decoders have it, to the tensors of a model.
import { nameOf } from '../feeding.js';
import { bytesOf, planeOf, refused, tensorOf } from './planes.js';
const FORMATS = {
    rgba: { bytesPerPixel: 4, channels: [0n, 1n, 2n] },
    bgra: { bytesPerPixel: 4, channels: [2n, 1n, 0n] },
    argb: { bytesPerPixel: 4, channels: [1n, 2n, 3n] },
    rgb: { bytesPerPixel: 3, channels: [0n, 1n, 2n] },
    bgr: { bytesPerPixel: 3, channels: [2n, 1n, 0n] },
    grey: { bytesPerPixel: 1, channels: [0n, 0n, 0n] },
    nv12: { bytesPerPixel: 1, channels: [0n, 0n, 0n], chroma: { bytesPerPixel: 2, places: [0n, 1n] } },
    nv21: { bytesPerPixel: 1, channels: [0n, 0n, 0n], chroma: { bytesPerPixel: 2, places: [1n, 0n] } },
    p010: { bytesPerPixel: 2, channels: [1n, 1n, 1n], chroma: { bytesPerPixel: 4, places: [1n, 3n] } },
};
const NO_CHROMA = { data: new Uint8Array(1), shape: [1, 1, 1] };
/** From 0 on, as models number them; pictures without chroma are not converted. */
const CONVERSIONS = ['none', 'bt601-full', 'bt601-video', 'bt709-full', 'bt709-video'];
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
    const region = regionOf(what, picture);
    if (layout.chroma !== undefined)
        checkEven(what, picture, region);
    const plane = lumaOf(what, picture, layout);
    return {
        pixels: tensorOf(plane, region),
        channels: BigInt64Array.from(layout.channels),
        orientation: BigInt64Array.of(orientationOf(what, orientation)),
        ...chromaTensors(what, picture, layout, plane, region),
    };
}
/** U and V of a picture that has them, else one zero that is not read. */
function chromaTensors(what, picture, layout, luma, region) {
    if (layout.chroma === undefined) {
        return { chroma: NO_CHROMA, conversion: BigInt64Array.of(0n, 0n, 0n) };
    }
    const [u, v] = layout.chroma.places;
    const { left, top, right, bottom } = region;
    const half = { left: left / 2, top: top / 2, right: right / 2, bottom: bottom / 2 };
    return {
        chroma: tensorOf(chromaOf(what, picture, luma, layout.chroma.bytesPerPixel), half),
        conversion: BigInt64Array.of(u, v, conversionOf(what, picture.conversion ?? 'bt601-full')),
    };
}
function checkEven(what, { width, height, format = 'rgba' }, region) {
    const edges = [width, height, region.left, region.top, region.right, region.bottom];
    if (edges.every((edge) => edge % 2 === 0))
        return;
    throw refused(what, `has format '${format}', for which width, height and the edges of a region are even numbers`);
}
function conversionOf(what, conversion) {
    const index = CONVERSIONS.indexOf(conversion);
    if (index > 0)
        return BigInt(index);
    throw refused(what, `has conversion ${String(conversion)}, which is none of ${CONVERSIONS.slice(1).join(', ')}`);
}
/** The rows of red, green and blue, or of luma. */
function lumaOf(what, picture, layout) {
    const { width, height, format = 'rgba' } = picture;
    const isTogether = layout.chroma !== undefined && picture.chroma === undefined;
    const rows = isTogether ? height * 1.5 : height;
    return planeOf(what, `${String(width)} x ${String(height)} pixels of ${format}`, {
        bytes: bytesOf(what, picture.data),
        rowBytes: picture.rowBytes,
        rowName: 'rowBytes',
        row: width * layout.bytesPerPixel,
        rows,
        bytesPerPixel: layout.bytesPerPixel,
    });
}
/** The rows of chroma: those of `chroma`, else those that follow luma. */
function chromaOf(what, picture, luma, bytesPerPixel) {
    const { width, height, format = 'rgba', chroma } = picture;
    if (chroma === undefined) {
        return { bytes: luma.bytes.subarray(luma.rowBytes * height), rowBytes: luma.rowBytes, bytesPerPixel };
    }
    return planeOf(what, `the chroma of ${String(width)} x ${String(height)} pixels of ${format}`, {
        bytes: bytesOf(what, chroma),
        rowBytes: picture.chromaRowBytes,
        rowName: 'chromaRowBytes',
        row: (width / 2) * bytesPerPixel,
        rows: height / 2,
        bytesPerPixel,
    });
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
    const exif = exifOf(orientation);
    if (ORIENTATIONS[exif - 1] !== undefined)
        return BigInt(exif);
    throw refused(what, `has orientation ${String(orientation)}, which is none of 1 to 8 and ${ORIENTATIONS.join(', ')}`);
}
/** Exif's number of an orientation; another number for what is none. */
export function exifOf(orientation) {
    return typeof orientation === 'number' ? orientation : ORIENTATIONS.indexOf(orientation) + 1;
}
/** Whether pixels share samples of chroma. */
export function hasChroma(format) {
    return FORMATS[format].chroma !== undefined;
}
