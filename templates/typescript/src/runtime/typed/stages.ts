// The steps of pipelines: what a model gets of another one's boxes.

import { ModelError } from '../errors.js';
import type { Box, Detection } from './boxes.js';
import { exifOf, hasChroma } from './picture.js';
import type { Picture } from './picture.js';

/** Orientations, as Exif numbers them, whose columns, and those whose rows are reversed after the turn that makes rows of columns. */
const MIRRORED: readonly number[] = [2, 3, 6, 7];
const FLIPPED: readonly number[] = [3, 4, 7, 8];

/** The first orientation whose columns are rows of the stored picture. */
const TURNED = 5;

/** The part of a picture that `box` touches, in whole pixels as they lie in memory: at least one, and none outside. */
export function partOf(picture: Picture, box: Box): Picture {
  const { width, height, format = 'rgba', orientation = 'up' } = picture;
  const whole = picture.region ?? { left: 0, top: 0, right: width, bottom: height };
  const exif = exifOf(orientation);
  const swaps = exif >= TURNED;
  const [across, down] = [whole.right - whole.left, whole.bottom - whole.top];
  const columns = pixelsOf(box.left, box.right, swaps ? down : across, MIRRORED.includes(exif));
  const rows = pixelsOf(box.top, box.bottom, swaps ? across : down, FLIPPED.includes(exif));
  const [[left, right], [top, bottom]] = swaps ? [rows, columns] : [columns, rows];
  const unit = hasChroma(format) ? 2 : 1;
  return {
    ...picture,
    region: {
      left: whole.left + left - (left % unit),
      top: whole.top + top - (top % unit),
      right: whole.left + right + (right % unit),
      bottom: whole.top + bottom + (bottom % unit),
    },
  };
}

/** The first pixel of a line of `size`, and the one after the last. */
function pixelsOf(start: number, end: number, size: number, isReversed: boolean): readonly [number, number] {
  const first = within(Number.isFinite(start) ? Math.floor(start) : 0, 0, size - 1);
  const last = within(Number.isFinite(end) ? Math.ceil(end) : 0, first + 1, size);
  return isReversed ? [size - last, size - first] : [first, last];
}

function within(value: number, least: number, most: number): number {
  return Math.min(Math.max(value, least), most);
}

/**
 * `boxes`, unless there are more than `most`.
 *
 * @throws ModelError `runtime`
 */
export function atMost(most: number, pipeline: string, boxes: readonly Detection[]): readonly Detection[] {
  if (boxes.length <= most) return boxes;
  const found = `${String(boxes.length)} boxes, and it takes ${String(most)} at most`;
  throw new ModelError('runtime', `pipeline \`${pipeline}\`: ${found}`);
}

/** Whether the score of a box is `least` or more, as 32-bit floats. */
export function reaches(least: number, { score }: Detection): boolean {
  return score >= Math.fround(least);
}

/** The model that `loading` gives. Where it fails, the models `before` are disposed of in their order. */
export async function loadedAfter<Model>(
  before: readonly { dispose: () => void }[],
  loading: Promise<Model>,
): Promise<Model> {
  try {
    return await loading;
  } catch (error) {
    for (const each of before) each.dispose();
    throw error;
  }
}
