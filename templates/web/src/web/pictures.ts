// Pictures of a page, and frames of a video or a camera, as models take them.

import { ModelError } from '../runtime/errors.js';
import { maxSizeOf, type PictureOptions } from '../runtime/typed/decoding.js';
import { drawnPicture } from '../runtime/typed/drawing.js';
import type { Picture } from '../runtime/typed/picture.js';

/**
 * A picture that a browser can draw: an element of the page, a canvas, a frame of a video, an `ImageBitmap`, a file
 * that the user has chosen (`Blob`), or its address.
 */
export type PictureSource = string | Blob | ImageBitmapSource;

/**
 * The pixels of `source`, upright.
 *
 * @throws ModelError `missing`: nothing is at the address; `bad-input`: it is no picture, or has none yet; `bad-options`;
 * `unsupported` where there is no canvas, as in Node
 */
export async function pictureFrom(source: PictureSource, options: PictureOptions = {}): Promise<Picture> {
  if (typeof source === 'string') return drawnPicture(source, options);
  const longest = maxSizeOf('source', options);
  if (typeof OffscreenCanvas === 'undefined') {
    throw new ModelError('unsupported', 'nothing draws pictures here: pass pixels to the model');
  }
  const bitmap = await createImageBitmap(source).catch((reason: unknown) => {
    throw new ModelError('bad-input', `no picture that this browser can draw: ${String(reason)}`, { cause: reason });
  });
  try {
    return drawn(bitmap, longest);
  } finally {
    bitmap.close();
  }
}

function drawn(bitmap: ImageBitmap, longest: number): Picture {
  const shrink = longest === 0 ? 1 : Math.min(1, longest / Math.max(bitmap.width, bitmap.height));
  const width = Math.max(1, Math.round(bitmap.width * shrink));
  const height = Math.max(1, Math.round(bitmap.height * shrink));
  // Without alpha: what is transparent is drawn on black, as phones have it.
  const context = new OffscreenCanvas(width, height).getContext('2d', { alpha: false, willReadFrequently: true });
  if (context === null) throw new ModelError('unsupported', 'the browser has no canvas');
  context.drawImage(bitmap, 0, 0, width, height);
  return context.getImageData(0, 0, width, height);
}

/**
 * The frames that `video` shows, for `model.frames(...)`; it ends with the video, and when the loop over it is left.
 *
 * @throws ModelError as `pictureFrom`
 */
export async function* videoFrames(video: HTMLVideoElement, options: PictureOptions = {}): AsyncGenerator<Picture> {
  while (!video.ended) {
    await shown(video);
    if (video.ended) return;
    yield await pictureFrom(video, options);
  }
}

/** Resolves when the next frame is shown, or the video ends. */
function shown(video: HTMLVideoElement): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      video.removeEventListener('ended', end);
      resolve();
    };
    video.addEventListener('ended', end);
    if ('requestVideoFrameCallback' in video) video.requestVideoFrameCallback(end);
    else requestAnimationFrame(end);
  });
}
