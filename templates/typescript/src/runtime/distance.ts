// How far outputs are from what they must be.

import type { ElementType, NumberArray } from './tensor.js';

/** The difference between two tensors. */
export interface Distance {
  /** Values that differ and have no distance. */
  readonly mismatches: number;
  readonly largest: number;
}

/** Nothing differs. */
export const NO_DISTANCE: Distance = { mismatches: 0, largest: 0 };

const MEASURED: ReadonlySet<ElementType> = new Set(['float32', 'float64', 'float16', 'bfloat16', 'int8', 'uint8']);

/** Whether values may be a little off: integers of 8 bits are quantized numbers, longer ones name things. */
export function isMeasured(type: ElementType): boolean {
  return MEASURED.has(type);
}

/**
 * How far numbers are from those that they must be; both have as many. `allowed` mismatches are those of numbers that
 * are not compared: the samples have infinity there. All of these count, so that no other number may be lost.
 */
export function distanceBetween(
  type: ElementType,
  expected: NumberArray,
  actual: NumberArray,
  allowed: number,
): Distance {
  if (!isMeasured(type)) return { ...NO_DISTANCE, mismatches: differing(expected, actual) };
  const number = READERS[type] ?? Number;
  let mismatches = 0;
  let infinite = 0;
  let changed = 0;
  let largest = 0;
  for (let index = 0; index < expected.length; index++) {
    const wanted = number(expected[index] ?? 0);
    const found = number(actual[index] ?? 0);
    if (Number.isFinite(wanted) && Number.isFinite(found)) largest = Math.max(largest, Math.abs(wanted - found));
    else if (wanted === Infinity) {
      infinite++;
      if (found !== wanted) changed++;
    } else if (wanted !== found && !(Number.isNaN(wanted) && Number.isNaN(found))) mismatches++;
  }
  return { mismatches: mismatches + (infinite <= allowed ? infinite : changed), largest };
}

/** How many values differ, and those that only one of the two has. */
export function differing(expected: ArrayLike<unknown>, actual: ArrayLike<unknown>): number {
  const common = Math.min(expected.length, actual.length);
  let count = Math.max(expected.length, actual.length) - common;
  for (let index = 0; index < common; index++) if (expected[index] !== actual[index]) count++;
  return count;
}

const READERS: Partial<Record<ElementType, (bits: number | bigint) => number>> = { float16: half, bfloat16: upperHalf };

/** The number that 16 bits are as an IEEE 754 binary16. */
function half(bits: number | bigint): number {
  const pattern = Number(bits);
  const exponent = (pattern >> 10) & 31;
  const fraction = pattern & 1023;
  const sign = (pattern & 0x8000) === 0 ? 1 : -1;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN;
  return sign * (exponent === 0 ? fraction * 2 ** -24 : (fraction + 1024) * 2 ** (exponent - 25));
}

const floatBits = new Uint32Array(1);
const float = new Float32Array(floatBits.buffer);

/** The number whose upper half, as a 32-bit float, 16 bits are. */
function upperHalf(bits: number | bigint): number {
  floatBits[0] = Number(bits) << 16;
  return float[0] ?? 0;
}
