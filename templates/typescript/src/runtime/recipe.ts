// Random inputs of samples, made anew from four numbers: the same on every machine, so that no package carries them.

import { newArray } from './elements.js';
import type { NumberArray, NumberType } from './tensor.js';

/** Four numbers of 64 bits. */
export const RECIPE_BYTES = 32;

const HIGH = 32n;
const GAMMA = 0x9e3779b97f4a7c15n;
const FIRST_FACTOR = 0xbf58476d1ce4e5b9n;
const SECOND_FACTOR = 0x94d049bb133111ebn;

/** Recipe of the values of a tensor. */
export interface Recipe {
  readonly seed: bigint;
  /** The least integer. */
  readonly low: bigint;
  /** Bound that all integers are below. */
  readonly high: bigint;
  /** At which distance the largest integer stands; 0 for nowhere in particular. */
  readonly row: bigint;
}

/** Reads a recipe: signed numbers of 64 bits, little-endian. */
export function readRecipe(bytes: DataView): Recipe {
  return {
    seed: bytes.getBigUint64(0, true),
    low: bytes.getBigInt64(8, true),
    high: bytes.getBigInt64(16, true),
    row: bytes.getBigInt64(24, true),
  };
}

/** The values that a recipe makes. */
export function make(type: NumberType, count: number, recipe: Recipe): NumberArray {
  const values = newArray(type, count);
  const at = writer(type, values, recipe);
  for (let index = 0; index < count; index++) at(index, randomBits(recipe.seed, index));
  return values;
}

/** Writes value `index`, which is made of 64 random bits. */
type Write = (index: number, bits: bigint) => void;

function writer(type: NumberType, values: NumberArray, recipe: Recipe): Write {
  if (values instanceof BigInt64Array || values instanceof BigUint64Array) {
    return (index, bits) => (values[index] = integer(recipe, index, bits));
  }
  const float = FLOATS[type];
  if (float !== undefined) return (index, bits) => (values[index] = float(bits));
  if (type === 'bool') return (index, bits) => (values[index] = integer(recipe, index, bits) === 0n ? 0 : 1);
  return (index, bits) => (values[index] = Number(integer(recipe, index, bits)));
}

/** Values of floats, the same whatever the recipe says; all others are integers. */
const FLOATS: Partial<Record<NumberType, (bits: bigint) => number>> = {
  float32: (bits) => Number(bits >> 40n) / 2 ** 23 - 1,
  float64: (bits) => Number(bits >> 11n) / 2 ** 52 - 1,
  float16: (bits) => halfBits(Number(bits >> 53n) / 2 ** 10 - 1),
  bfloat16: (bits) => upperHalf(Number(bits >> 56n) / 2 ** 7 - 1),
};

function integer({ low, high, row }: Recipe, index: number, bits: bigint): bigint {
  if (row > 0n && BigInt(index) % row === 0n) return high - 1n;
  return low + (((bits >> HIGH) * (high - low)) >> HIGH);
}

/** SplitMix64: the number `index` of those that follow `seed`. */
export function randomBits(seed: bigint, index: number): bigint {
  let bits = BigInt.asUintN(64, seed + BigInt(index + 1) * GAMMA);
  bits = BigInt.asUintN(64, (bits ^ (bits >> 30n)) * FIRST_FACTOR);
  bits = BigInt.asUintN(64, (bits ^ (bits >> 27n)) * SECOND_FACTOR);
  return bits ^ (bits >> 31n);
}

const single = new Float32Array(1);
const singleBits = new Uint32Array(single.buffer);

/** The upper half of a 32-bit float. */
function upperHalf(value: number): number {
  single[0] = value;
  return (singleBits[0] ?? 0) >>> 16;
}

/** The bits of a 16-bit float from -1 to 1 that has them all: those of a float with smaller exponent and fraction. */
function halfBits(value: number): number {
  if (value === 0) return 0;
  single[0] = value;
  const bits = singleBits[0] ?? 0;
  return ((bits >>> 16) & 0x8000) | (((bits & 0x7fffffff) - (112 << 23)) >>> 13);
}
