import { ModelError } from '../errors.js';
import type { Shaped } from '../tensor.js';
/** A part of a picture, in whole pixels as they lie in memory: `right` and `bottom` are behind the last of them. */
export interface Region {
    readonly left: number;
    readonly top: number;
    readonly right: number;
    readonly bottom: number;
}
/** Height, width and bytes of a pixel. */
export type PixelTensor = Shaped<'uint8', readonly [number, number, number]>;
/** Rows of pixels in memory. */
export interface Plane {
    readonly bytes: Uint8Array;
    readonly rowBytes: number;
    readonly bytesPerPixel: number;
}
/** A plane that was not checked. */
interface Rows {
    readonly bytes: Uint8Array;
    readonly rowBytes: number | undefined;
    /** The key that says `rowBytes`. */
    readonly rowName: string;
    /** The bytes of a row without the gap behind it. */
    readonly row: number;
    readonly rows: number;
    readonly bytesPerPixel: number;
}
/**
 * The rows, checked.
 *
 * @param size - for an error's words
 * @throws ModelError `bad-input`: the rows are too short, or the bytes too few
 */
export declare function planeOf(what: string, size: string, { bytes, rowBytes, rowName, row, rows, bytesPerPixel }: Rows): Plane;
/** The bytes where they lie. Arrays may come from another realm, as in tests with Jest: their names tell what they are. */
export declare function bytesOf(what: string, data: unknown): Uint8Array;
/** The bytes of a region: where they lie when its rows follow each other, else copied to native memory. */
export declare function tensorOf({ bytes, rowBytes, bytesPerPixel }: Plane, region: Region): PixelTensor;
export declare function refused(what: string, words: string): ModelError;
export {};
