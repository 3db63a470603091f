// Checks what an app passes to a run, before native code reads past its end.

import type { TensorSpec } from './descriptor.js';
import { ELEMENTS, countOf } from './elements.js';
import { ModelError } from './errors.js';
import type { ElementType, NumberArray, NumberType, Shape } from './tensor.js';

/** Numbers where they lie in memory of the app. */
export interface Numbers<Type extends ElementType = ElementType> {
  readonly type: Type;
  readonly array: NumberArray;
  readonly shape: Shape;
}

/** Strings: they have no memory that native code could read. */
export interface Texts {
  readonly values: readonly string[];
  readonly shape: Shape;
}

type Sizes = readonly (number | null)[];

/**
 * The numbers that `value`, an array or an array and its shape, is for a tensor.
 *
 * @param what - the tensor in an error's words: "input `x`"
 * @throws ModelError `bad-input`, saying what is expected and what was found
 */
export function numbersOf(what: string, spec: TensorSpec<NumberType>, value: unknown): Numbers<NumberType> {
  const { data, shape } = partsOf(value);
  const { arrayName } = ELEMENTS[spec.type];
  const found = nameOf(data);
  if (!ArrayBuffer.isView(data) || found !== arrayName) {
    throw refused(`${what} takes a ${arrayName} (${spec.type}), found ${found}`);
  }
  const array = data as NumberArray;
  return { type: spec.type, array, shape: shapeOf(what, spec.shape, shape, array.length) };
}

/** The strings that `value`, an array or an array and its shape, is for a tensor. */
export function textsOf(what: string, spec: TensorSpec, value: unknown): Texts {
  const { data, shape } = partsOf(value);
  if (!Array.isArray(data)) throw refused(`${what} takes an array of strings, found ${nameOf(data)}`);
  const wrong = data.findIndex((text) => typeof text !== 'string');
  if (wrong >= 0) {
    throw refused(`${what} takes an array of strings, found ${nameOf(data[wrong])} at index ${String(wrong)}`);
  }
  return { values: data as readonly string[], shape: shapeOf(what, spec.shape, shape, data.length) };
}

/** The names of tensors that a caller left out, or made up, are errors. */
export function checkKeys(what: string, known: readonly string[], given: unknown, isAllNeeded: boolean): void {
  const takes = known.length > 0 ? known.join(', ') : 'none';
  if (typeof given !== 'object' || given === null || ArrayBuffer.isView(given) || Array.isArray(given)) {
    throw refused(`${what}s come in an object with their names, found ${nameOf(given)}: the model has ${takes}`);
  }
  const keys = Object.keys(given);
  for (const key of keys) {
    if (!known.includes(key)) throw refused(`unknown ${what} \`${key}\`: the model has ${takes}`);
  }
  for (const key of isAllNeeded ? known : []) {
    if (!keys.includes(key)) throw refused(`${what} \`${key}\` is missing: the model has ${takes}`);
  }
}

/** Sizes for people: `[?, 3, 224, 224]`. */
export function inWords(sizes: Sizes): string {
  return `[${sizes.map((size) => (size === null ? '?' : String(size))).join(', ')}]`;
}

function refused(message: string): ModelError {
  return new ModelError('bad-input', message);
}

function partsOf(value: unknown): { readonly data: unknown; readonly shape: unknown } {
  const isObject = typeof value === 'object' && value !== null && !ArrayBuffer.isView(value) && !Array.isArray(value);
  if (!isObject || !('data' in value)) return { data: value, shape: undefined };
  return { data: value.data, shape: 'shape' in value ? value.shape : undefined };
}

/** The name of an array's class, which is the same in every realm: a test's arrays may come from another one. */
export function nameOf(value: unknown): string {
  if (value === null || typeof value !== 'object') return value === null ? 'null' : typeof value;
  return Object.prototype.toString.call(value).slice('[object '.length, -1);
}

function shapeOf(what: string, sizes: Sizes, given: unknown, count: number): Shape {
  const shape = given === undefined ? inferred(what, sizes, count) : checked(what, sizes, given);
  const needed = countOf(shape);
  if (count !== needed) {
    throw refused(`${what} of shape ${inWords(shape)} needs ${inNumber(needed)}, found ${String(count)}`);
  }
  return shape;
}

function checked(what: string, sizes: Sizes, given: unknown): Shape {
  if (!Array.isArray(given) || !given.every((size) => Number.isSafeInteger(size) && size >= 0)) {
    throw refused(
      `${what} takes a shape of whole numbers from 0 on, found ${Array.isArray(given) ? `[${given.join(', ')}]` : nameOf(given)}`,
    );
  }
  const shape = [...(given as readonly number[])];
  const isFitting = sizes.length === shape.length && sizes.every((size, axis) => size === null || size === shape[axis]);
  if (!isFitting) throw refused(`${what} takes shape ${inWords(sizes)}, found ${inWords(shape)}`);
  return shape;
}

/** The shape that `count` values have, if there is only one. */
function inferred(what: string, sizes: Sizes, count: number): Shape {
  const open = sizes.filter((size) => size === null).length;
  const rest = countOf(sizes.map((size) => size ?? 1));
  if (open > 1 || (open === 1 && rest === 0)) {
    throw refused(`${what} takes shape ${inWords(sizes)}: pass its sizes too, as { data, shape }`);
  }
  if (open === 1 && count % rest !== 0) {
    throw refused(`${what} takes shape ${inWords(sizes)}, a multiple of ${inNumber(rest)}, found ${String(count)}`);
  }
  return sizes.map((size) => size ?? count / rest);
}

function inNumber(count: number): string {
  return count === 1 ? '1 value' : `${String(count)} values`;
}
