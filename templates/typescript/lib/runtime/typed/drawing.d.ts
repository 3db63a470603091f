import { type PictureOptions } from './decoding.js';
import type { Picture } from './picture.js';
/** @throws ModelError `missing`: nothing is there; `bad-input`: it is no picture; `unsupported`: there is no canvas */
export declare function drawnPicture(uri: string, options: PictureOptions): Promise<Picture>;
