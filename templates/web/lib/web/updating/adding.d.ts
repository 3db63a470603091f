/** Adds to the values in `span` at `places`, or to all of them, differences in planes and in zigzag, modulo 2^(8 * width). */
export declare function addDifferences(span: Uint8Array, width: number, planes: Uint8Array, places: Uint32Array | null): void;
/**
 * The places of values whose gaps are in planes: how many values lie before each, since the one before it. Null when one is
 * not below `count`.
 */
export declare function placesOf(planes: Uint8Array, gapWidth: number, count: number): Uint32Array | null;
