export { pictureFrom, videoFrames, type PictureSource } from './web/pictures.js';
export type { PictureOptions } from './runtime/typed/decoding.js';
