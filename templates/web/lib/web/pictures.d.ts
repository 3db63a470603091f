import { type PictureOptions } from '../runtime/typed/decoding.js';
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
export declare function pictureFrom(source: PictureSource, options?: PictureOptions): Promise<Picture>;
/**
 * The frames that `video` shows, for `model.frames(...)`; it ends with the video, and when the loop over it is left.
 *
 * @throws ModelError as `pictureFrom`
 */
export declare function videoFrames(video: HTMLVideoElement, options?: PictureOptions): AsyncGenerator<Picture>;
