// The rows of a picture's pixels in memory, and the part of them that a model takes.

import { ModelError } from '../errors.js';
import { nameOf } from '../feeding.js';
import { allocate } from '../memory.js';
import type { Shaped } from '../tensor.js';

/** A part of a picture, in whole pixels as they lie in memory: `right` and `bottom` are behind the last of them. */
export interface Region {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** Height, width and bytes of a pixel. */
export type PixelTensor = Shaped<'uint8', readonly [number, number, number]>;

/** Rows of pixels in memory. */
export interface Plane {
  readonly bytes: Uint8Array;
  readonly rowBytes: number;
  readonly bytesPerPixel: number;
}

/** A plane that was not checked. */
interface Rows {
  readonly bytes: Uint8Array;
  readonly rowBytes: number | undefined;
  /** The key that says `rowBytes`. */
  readonly rowName: string;
  /** The bytes of a row without the gap behind it. */
  readonly row: number;
  readonly rows: number;
  readonly bytesPerPixel: number;
}

/**
 * The rows, checked.
 *
 * @param size - for an error's words
 * @throws ModelError `bad-input`: the rows are too short, or the bytes too few
 */
export function planeOf(what: string, size: string, { bytes, rowBytes, rowName, row, rows, bytesPerPixel }: Rows): Plane {
  if (rowBytes === undefined) {
    if (bytes.length === row * rows) return { bytes, rowBytes: row, bytesPerPixel };
    const words = `${size} are ${String(row * rows)} bytes, and its data has ${String(bytes.length)}`;
    throw refused(what, `${words}: for rows with gaps between them say ${rowName}`);
  }
  if (!Number.isSafeInteger(rowBytes) || rowBytes < row) {
    throw refused(what, `has ${rowName} ${String(rowBytes)}, and a row of ${size} has ${String(row)} bytes`);
  }
  const needed = rowBytes * (rows - 1) + row;
  if (bytes.length >= needed) return { bytes, rowBytes, bytesPerPixel };
  const words = `${size} in rows of ${String(rowBytes)} bytes need ${String(needed)} bytes`;
  throw refused(what, `${words}, and its data has ${String(bytes.length)}`);
}

/** The bytes where they lie. Arrays may come from another realm, as in tests with Jest: their names tell what they are. */
export function bytesOf(what: string, data: unknown): Uint8Array {
  const name = nameOf(data);
  if (ArrayBuffer.isView(data) && ['Uint8Array', 'Uint8ClampedArray'].includes(name)) {
    return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  }
  if (name === 'ArrayBuffer') return new Uint8Array(data as ArrayBuffer);
  throw refused(what, `takes its data as a Uint8Array, a Uint8ClampedArray or an ArrayBuffer, found ${name}`);
}

/** The bytes of a region: where they lie when its rows follow each other, else copied to native memory. */
export function tensorOf({ bytes, rowBytes, bytesPerPixel }: Plane, region: Region): PixelTensor {
  const width = region.right - region.left;
  const rows = region.bottom - region.top;
  const start = region.top * rowBytes + region.left * bytesPerPixel;
  const length = width * bytesPerPixel;
  const shape = [rows, width, bytesPerPixel] as const;
  if (length === rowBytes || rows === 1) return { data: bytes.subarray(start, start + rows * length), shape };
  const copy = allocate('uint8', rows * length);
  for (let row = 0; row < rows; row++) {
    const from = start + row * rowBytes;
    copy.set(bytes.subarray(from, from + length), row * length);
  }
  return { data: copy, shape };
}

export function refused(what: string, words: string): ModelError {
  return new ModelError('bad-input', `picture \`${what}\` ${words}`);
}
