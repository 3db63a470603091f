// Memory that an app and native code share.

import { currentBackend, type Engine } from './backend.js';
import { ELEMENTS } from './elements.js';
import { ModelError, toModelError } from './errors.js';
import type { DataOf, NumberArray, NumberType } from './tensor.js';

/**
 * An array of `count` elements of a type, all zero, that `run` of every model works on in place, whole or as a
 * `subarray`: fill it, run, and fill it again. It is for inputs, and for outputs as `into`.
 *
 * Its memory is native. Of arrays that JavaScript makes, inputs are copied when `run` is called, and outputs when it
 * ends; so are these where JavaScript has no native memory, which is in browsers and in JavaScriptCore. Arrays over
 * native memory of other libraries, such as frames of a camera, are worked on in place too.
 *
 * From the call of `run` until its promise is settled, inputs over native memory must not be changed, and outputs over
 * it must not be used. `runSync` works on all arrays where they lie.
 *
 * @throws ModelError `bad-input` for what is no type of numbers or no count, `out-of-memory`
 */
export function allocate<Type extends NumberType>(type: Type, count: number): DataOf<Type> {
  if (!Object.keys(ELEMENTS).includes(type)) {
    throw new ModelError('bad-input', `memory is of numbers such as float32, found ${type}`);
  }
  if (!Number.isSafeInteger(count) || count < 0) {
    throw new ModelError('bad-input', `memory is for a whole number of elements from 0 on, found ${String(count)}`);
  }
  return sharedArray(currentBackend(), type, count) as DataOf<Type>;
}

/** New memory of an engine for `count` elements, all zero. */
export function sharedArray(engine: Engine, type: NumberType, count: number): NumberArray {
  const { over, sizeBytes } = ELEMENTS[type];
  try {
    return over(engine.allocate(count * sizeBytes));
  } catch (thrown) {
    throw toModelError(thrown);
  }
}
