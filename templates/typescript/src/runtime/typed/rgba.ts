// Pictures that models make.

import type { Tensor } from '../tensor.js';

/**
 * A picture that a model made. Another model takes it as it is. On a page:
 * `const image = context.createImageData(width, height); image.data.set(data); context.putImageData(image, 0, 0);`
 */
export interface RgbaPicture {
  readonly width: number;
  readonly height: number;
  /** Red, green, blue and alpha of each pixel, row by row; colours are not multiplied by alpha. */
  readonly data: Uint8ClampedArray;
}

/** The picture of the model's tensor. */
export function rgbaPictureOf({
  data,
  shape: [height, width],
}: Tensor<'uint8', readonly [number, number, number]>): RgbaPicture {
  return { width, height, data: new Uint8ClampedArray(data.buffer, data.byteOffset, data.length) };
}
