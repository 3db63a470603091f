import type { Backend } from '../backend.js';
import type { Picture } from './picture.js';
/** How a picture is decoded. */
export interface PictureOptions {
    /**
     * Longest side, in pixels: larger pictures are made smaller while they are decoded. No model needs more than a
     * few times the size that it looks at. By default a picture keeps its size, up to 67 million pixels.
     */
    readonly maxSize?: number;
}
/** Pixels of red, green, blue and alpha as the file has them. */
interface Pixels {
    readonly width: number;
    readonly height: number;
    /** Exif's number. */
    readonly orientation: number;
}
/** Result of Android's decoder: a file, which is read once. */
export interface AndroidDecoder {
    decode(uri: string, maxSize: number): Promise<Pixels & {
        readonly path: string;
    }>;
}
/** Result of iOS's decoder: native memory. */
export interface AppleDecoder {
    decode(uri: string, maxSize: number): Promise<object>;
}
/** The parts of a package that decode: those of the other system are null. */
export interface Decoders {
    readonly android: AndroidDecoder | null;
    readonly apple: AppleDecoder | null;
}
/** @throws ModelError as `pictureFrom` of the package's `image` says */
export declare function decodedPicture(backend: Backend, { android, apple }: Decoders, uri: string, options: PictureOptions): Promise<Picture>;
/** Checks what an app asks for. Without the option its answer is 0. */
export declare function maxSizeOf(uri: unknown, { maxSize }: {
    readonly maxSize?: unknown;
}): number;
export {};
