import { type Engine } from './backend.js';
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
export declare function allocate<Type extends NumberType>(type: Type, count: number): DataOf<Type>;
/** New memory of an engine for `count` elements, all zero. */
export declare function sharedArray(engine: Engine, type: NumberType, count: number): NumberArray;
