import { type PictureOptions } from './runtime/typed/decoding.js';
import type { Picture } from './runtime/typed/picture.js';
export type { PictureOptions } from './runtime/typed/decoding.js';
/**
 * The picture at an address, as image pickers and cameras give it: `file:`, `data:` or a path, on Android `content:`,
 * `android.resource:` and `asset:` as well. The system decodes it on another thread. Its colours are those of sRGB;
 * models turn it as its Exif data says.
 *
 * @throws ModelError `missing`: there is no such file; `unreadable`: the app may not read it; `bad-input`: it is no picture
 * that this device can decode, it is too large without `maxSize`, or not on the device, such as an address of `https:`;
 * `no-space`: the device has no room for its pixels
 */
export declare function pictureFrom(uri: string, options?: PictureOptions): Promise<Picture>;
