import type { PixelTensor, Region } from './planes.js';
/**
 * The order of the colours in a pixel, one byte each; or a camera's luma and chroma: `'nv12'` (U before V) and
 * `'nv21'` (V before U) with 8 bits, `'p010'` with 10 bits in the upper bits of 16.
 */
export type PixelFormat = 'rgba' | 'bgra' | 'argb' | 'rgb' | 'bgr' | 'grey' | 'nv12' | 'nv21' | 'p010';
/** How luma and chroma become red, green and blue: ITU-R's standard, and whether numbers use the full range. */
export type YuvConversion = 'bt601-full' | 'bt601-video' | 'bt709-full' | 'bt709-video';
/** Where a picture as it lies in memory has its upper side: by name, or as Exif numbers it. */
export type PictureOrientation = 'up' | 'upMirrored' | 'down' | 'downMirrored' | 'leftMirrored' | 'right' | 'rightMirrored' | 'left' | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8;
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
    /**
     * `'rgba'` by default. Alpha is ignored: transparent pixels count with their colour. Luma and chroma have an even
     * width and height; the rows of chroma follow those of luma in `data`, with the same `rowBytes`, or are in `chroma`.
     */
    readonly format?: PixelFormat;
    /** From the start of one row to that of the next; by default rows have no gaps between them. */
    readonly rowBytes?: number;
    /** For `'nv12'`, `'nv21'` and `'p010'`: the rows of chroma, where they do not follow those of luma in `data`. */
    readonly chroma?: Uint8Array | Uint8ClampedArray | ArrayBuffer;
    /** From the start of one row of `chroma` to that of the next; by default its rows have no gaps between them. */
    readonly chromaRowBytes?: number;
    /** For luma and chroma: `'bt601-full'` by default, which JPEG and most Android cameras use. */
    readonly conversion?: YuvConversion;
    /** `'up'` by default: the first row is the upper one. */
    readonly orientation?: PictureOrientation;
    /** The part for the model, by default the whole picture. Its edges are even for luma and chroma. Results refer to it. */
    readonly region?: Region;
}
/** Tensors that models take of a picture. */
export interface PictureTensors {
    readonly pixels: PixelTensor;
    readonly channels: BigInt64Array;
    readonly orientation: BigInt64Array;
    readonly chroma: PixelTensor;
    readonly conversion: BigInt64Array;
}
/**
 * The tensors of a picture.
 *
 * @param what - the parameter that has it, for an error's words
 * @throws ModelError `bad-input`, saying what is wrong with the picture
 */
export declare function pictureTensors(what: string, picture: Picture): PictureTensors;
/** Exif's number of an orientation; another number for what is none. */
export declare function exifOf(orientation: unknown): number;
/** Whether pixels share samples of chroma. */
export declare function hasChroma(format: PixelFormat): boolean;
