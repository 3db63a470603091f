// From a file to pixels, on phones: decoded by the system, in native memory that the model reads where it lies.

import { Images, type PixelFormat as Decoded } from 'react-native-nitro-image';
import type { Picture, PictureOrientation, PixelFormat } from 'react-native-vision';

import type { Chosen } from './chosen';

const FORMATS: Partial<Record<Decoded, PixelFormat>> = {
  RGBA: 'rgba',
  RGBX: 'rgba',
  BGRA: 'bgra',
  BGRX: 'bgra',
  ARGB: 'argb',
  XRGB: 'argb',
  RGB: 'rgb',
  BGR: 'bgr',
};

/** The pixels of a file, as they lie in it: `orientation` says how the model has to turn them. */
export async function pixelsOf({ uri, orientation }: Chosen): Promise<Picture> {
  const image = await Images.loadFromFileAsync(decodeURIComponent(uri.replace(/^file:\/\//, '')));
  const { buffer, width, height, pixelFormat } = await image.toRawPixelDataAsync();
  const format = FORMATS[pixelFormat];
  if (format === undefined) throw new Error(`pixels of ${pixelFormat} are not understood`);
  return { data: buffer, width, height, format, orientation: isOrientation(orientation) ? orientation : 'up' };
}

function isOrientation(number: number): number is PictureOrientation & number {
  return Number.isInteger(number) && number >= 1 && number <= 8;
}
