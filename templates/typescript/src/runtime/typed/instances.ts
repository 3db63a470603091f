// Detected objects with their pixels.

import type { Box } from './boxes.js';

/** The pixels of an object, among those of its box: a part of the upright picture, in rows from the top. */
export interface InstanceMask {
  /** The first column of the picture. */
  readonly left: number;
  /** The first row of the picture. */
  readonly top: number;
  readonly width: number;
  readonly height: number;
  /** 1 for each pixel of the object, else 0: that in column `x` of row `y` is at `(y - top) * width + x - left`. */
  readonly places: Uint8Array;
}

/** A detected object and its pixels. */
export interface Instance {
  /** The name of its class; empty when the model's classes have no names. */
  readonly label: string;
  /** The number of its class, from 0 on. */
  readonly index: number;
  /** The model's confidence. */
  readonly score: number;
  /** Where it is. */
  readonly box: Box;
  /** Which pixels are the object's. */
  readonly mask: InstanceMask;
}

/** The detected objects, in the model's order: `boxes` and `areas` have four numbers for each, `places` its mask. */
export function instancesOf(
  boxes: Float32Array,
  scores: Float32Array,
  classes: BigInt64Array,
  areas: Int32Array,
  places: Uint8Array,
  labels: readonly string[],
): readonly Instance[] {
  let end = 0;
  return Array.from(scores, (score, number) => {
    const [left = 0, top = 0, right = 0, bottom = 0] = boxes.subarray(4 * number, 4 * number + 4);
    const [column = 0, row = 0, width = 0, height = 0] = areas.subarray(4 * number, 4 * number + 4);
    const index = Number(classes[number] ?? 0n);
    const start = end;
    end += width * height;
    const mask = { left: column, top: row, width, height, places: places.slice(start, end) };
    return { label: labels[index] ?? '', index, score, box: { left, top, right, bottom }, mask };
  });
}
