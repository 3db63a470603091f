// From a picture, as cameras, canvases and decoders have it, to the tensors of a model.

import { ModelError } from '../errors.js';
import { nameOf } from '../feeding.js';
import { allocate } from '../memory.js';
import type { Shaped } from '../tensor.js';

/** The order of the colours in a pixel, one byte each. */
export type PixelFormat = 'rgba' | 'bgra' | 'argb' | 'rgb' | 'bgr' | 'grey';

/** Where a picture as it lies in memory has its upper side: by name, or as Exif numbers it. */
export type PictureOrientation =
  | 'up'
  | 'upMirrored'
  | 'down'
  | 'downMirrored'
  | 'leftMirrored'
  | 'right'
  | 'rightMirrored'
  | 'left'
  | 1
  | 2
  | 3
  | 4
  | 5
  | 6
  | 7
  | 8;

/** A part of a picture, in whole pixels as they lie in memory: `right` and `bottom` are behind the last of them. */
export interface Region {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** A picture of any size, such as an `ImageData` of a canvas or a frame of a camera. */
export interface Picture {
  /**
   * Its pixels, row after row. They are copied where there are gaps between the rows that the model looks at, and
   * otherwise handed to `run` as they are: memory of a camera is then read in place.
   */
  readonly data: Uint8Array | Uint8ClampedArray | ArrayBuffer;
  /** In pixels. */
  readonly width: number;
  /** In pixels. */
  readonly height: number;
  /** `'rgba'` by default. Alpha is ignored: transparent pixels count with their colour. */
  readonly format?: PixelFormat;
  /** From the start of one row to that of the next; by default rows have no gaps between them. */
  readonly rowBytes?: number;
  /** `'up'` by default: the first row is the upper one. */
  readonly orientation?: PictureOrientation;
  /** The part for the model, by default the whole picture. Results refer to this part. */
  readonly region?: Region;
}

/** What models take of a picture. */
export interface PictureTensors {
  readonly pixels: Shaped<'uint8', readonly [number, number, number]>;
  readonly channels: BigInt64Array;
  readonly orientation: BigInt64Array;
}

interface Layout {
  readonly bytesPerPixel: number;
  /** Where red, green and blue lie in a pixel. */
  readonly channels: readonly [bigint, bigint, bigint];
}

const FORMATS: Readonly<Record<PixelFormat, Layout>> = {
  rgba: { bytesPerPixel: 4, channels: [0n, 1n, 2n] },
  bgra: { bytesPerPixel: 4, channels: [2n, 1n, 0n] },
  argb: { bytesPerPixel: 4, channels: [1n, 2n, 3n] },
  rgb: { bytesPerPixel: 3, channels: [0n, 1n, 2n] },
  bgr: { bytesPerPixel: 3, channels: [2n, 1n, 0n] },
  grey: { bytesPerPixel: 1, channels: [0n, 0n, 0n] },
};

/** From 1 on, as Exif numbers them. */
const ORIENTATIONS: readonly unknown[] = [
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
export function pictureTensors(what: string, picture: Picture): PictureTensors {
  const given: unknown = picture;
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

function checkSize(what: string, name: string, size: number): void {
  if (Number.isSafeInteger(size) && size >= 1) return;
  throw refused(what, `has ${name} ${String(size)}, which is no whole number from 1 on`);
}

function layoutOf(what: string, format: string): Layout {
  const found = Object.entries(FORMATS).find(([name]) => name === format);
  if (found !== undefined) return found[1];
  throw refused(what, `has format '${format}', which is none of ${Object.keys(FORMATS).join(', ')}`);
}

/** The bytes where they lie. Arrays may come from another realm, as in tests with Jest: their names tell what they are. */
function bytesOf(what: string, data: unknown): Uint8Array {
  const name = nameOf(data);
  if (ArrayBuffer.isView(data) && ['Uint8Array', 'Uint8ClampedArray'].includes(name)) {
    return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  }
  if (name === 'ArrayBuffer') return new Uint8Array(data as ArrayBuffer);
  throw refused(what, `takes its data as a Uint8Array, a Uint8ClampedArray or an ArrayBuffer, found ${name}`);
}

function rowBytesOf(what: string, picture: Picture, { bytesPerPixel }: Layout, bytes: Uint8Array): number {
  const { width, height, format = 'rgba', rowBytes } = picture;
  const shortest = width * bytesPerPixel;
  const size = `${String(width)} x ${String(height)} pixels of ${format}`;
  if (rowBytes === undefined) {
    if (bytes.length === shortest * height) return shortest;
    const words = `${size} are ${String(shortest * height)} bytes, and its data has ${String(bytes.length)}`;
    throw refused(what, `${words}: for rows with gaps between them say rowBytes`);
  }
  if (!Number.isSafeInteger(rowBytes) || rowBytes < shortest) {
    const row = `${String(width)} pixels of ${format} has ${String(shortest)} bytes`;
    throw refused(what, `has rowBytes ${String(rowBytes)}, and a row of ${row}`);
  }
  const needed = rowBytes * (height - 1) + shortest;
  if (bytes.length >= needed) return rowBytes;
  const words = `${size} in rows of ${String(rowBytes)} bytes need ${String(needed)} bytes`;
  throw refused(what, `${words}, and its data has ${String(bytes.length)}`);
}

function regionOf(what: string, { width, height, region }: Picture): Region {
  if (region === undefined) return { left: 0, top: 0, right: width, bottom: height };
  const given: unknown = region;
  if (typeof given !== 'object' || given === null) throw refused(what, `has region ${String(given)}, which has no edges`);
  const { left, top, right, bottom } = region;
  const isWhole = [left, top, right, bottom].every((edge) => Number.isSafeInteger(edge));
  if (isWhole && 0 <= left && left < right && right <= width && 0 <= top && top < bottom && bottom <= height) {
    return region;
  }
  const edges = `left ${String(left)}, top ${String(top)}, right ${String(right)}, bottom ${String(bottom)}`;
  throw refused(what, `has region ${edges}, which is no part of ${String(width)} x ${String(height)} pixels`);
}

function orientationOf(what: string, orientation: unknown): bigint {
  const index = typeof orientation === 'number' ? orientation - 1 : ORIENTATIONS.indexOf(orientation);
  if (ORIENTATIONS[index] !== undefined) return BigInt(index + 1);
  throw refused(what, `has orientation ${String(orientation)}, which is none of 1 to 8 and ${ORIENTATIONS.join(', ')}`);
}

/** The bytes of a region: where they lie when its rows follow each other, else copied to native memory. */
function withoutGaps(bytes: Uint8Array, rowBytes: number, region: Region, bytesPerPixel: number): Uint8Array {
  const start = region.top * rowBytes + region.left * bytesPerPixel;
  const length = (region.right - region.left) * bytesPerPixel;
  const rows = region.bottom - region.top;
  if (length === rowBytes || rows === 1) return bytes.subarray(start, start + rows * length);
  const copy = allocate('uint8', rows * length);
  for (let row = 0; row < rows; row++) {
    const from = start + row * rowBytes;
    copy.set(bytes.subarray(from, from + length), row * length);
  }
  return copy;
}

function refused(what: string, words: string): ModelError {
  return new ModelError('bad-input', `picture \`${what}\` ${words}`);
}
