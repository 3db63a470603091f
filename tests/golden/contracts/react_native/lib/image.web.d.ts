import type { PictureOptions } from './runtime/typed/decoding.js';
import type { Picture } from './runtime/typed/picture.js';
export type { PictureOptions } from './runtime/typed/decoding.js';
/** The picture at an address that this page may read, upright: see `pictureFrom` for phones. */
export declare function pictureFrom(uri: string, options?: PictureOptions): Promise<Picture>;
