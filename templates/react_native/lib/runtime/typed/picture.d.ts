import type { Shaped } from '../tensor.js';
/** The order of the colours in a pixel, one byte each. */
export type PixelFormat = 'rgba' | 'bgra' | 'argb' | 'rgb' | 'bgr' | 'grey';
/** Where a picture as it lies in memory has its upper side: by name, or as Exif numbers it. */
export type PictureOrientation = 'up' | 'upMirrored' | 'down' | 'downMirrored' | 'leftMirrored' | 'right' | 'rightMirrored' | 'left' | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8;
/** A part of a picture, in whole pixels as they lie in memory: `right` and `bottom` are behind the last of them. */
export interface Region {
    readonly left: number;
    readonly top: number;
    readonly right: number;
    readonly bottom: number;
}
/** A picture of any size, such as an `ImageData` of a canvas or a frame of a camera. */
export interface Picture {
    /**
     * Its pixels, row after row. They are copied where there are gaps between the rows that the model looks at, and
     * otherwise handed to `run` as they are: memory of a camera is then read in place.
     */
    readonly data: Uint8Array | Uint8ClampedArray | ArrayBuffer;
    /** In pixels. */
    readonly width: number;
    /** In pixels. */
    readonly height: number;
    /** `'rgba'` by default. Alpha is ignored: transparent pixels count with their colour. */
    readonly format?: PixelFormat;
    /** From the start of one row to that of the next; by default rows have no gaps between them. */
    readonly rowBytes?: number;
    /** `'up'` by default: the first row is the upper one. */
    readonly orientation?: PictureOrientation;
    /** The part for the model, by default the whole picture. Results refer to this part. */
    readonly region?: Region;
}
/** What models take of a picture. */
export interface PictureTensors {
    readonly pixels: Shaped<'uint8', readonly [number, number, number]>;
    readonly channels: BigInt64Array;
    readonly orientation: BigInt64Array;
}
/**
 * The tensors of a picture.
 *
 * @param what - the parameter that has it, for an error's words
 * @throws ModelError `bad-input`, saying what is wrong with the picture
 */
export declare function pictureTensors(what: string, picture: Picture): PictureTensors;
