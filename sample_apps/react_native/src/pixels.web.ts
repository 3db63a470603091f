// From a file to pixels, in a browser: a canvas decodes and turns it.

import type { Picture } from 'react-native-vision';

import type { Chosen } from './chosen';

/** The pixels of a file, upright. */
export async function pixelsOf({ uri }: Chosen): Promise<Picture> {
  const response = await fetch(uri);
  const bitmap = await createImageBitmap(await response.blob());
  const canvas = document.createElement('canvas');
  canvas.width = bitmap.width;
  canvas.height = bitmap.height;
  // Without alpha: what is transparent is drawn on black, as phones have it.
  const context = canvas.getContext('2d', { alpha: false, willReadFrequently: true });
  if (context === null) throw new Error('the browser has no canvas');
  context.drawImage(bitmap, 0, 0);
  bitmap.close();
  return context.getImageData(0, 0, canvas.width, canvas.height);
}
