import { type TensorSpec } from '../runtime/descriptor.js';
import { type ModelDefinition } from '../runtime/loading.js';
import type { Input, Tensor } from '../runtime/tensor.js';
import type { PlainModel } from '../runtime/plainModel.js';
/** The inputs of {@link EveryThingV2}: values of each tensor one after the other, in row-major order. */
export interface EveryThingV2Inputs {
    /** `serving_default_input_2:0`: float `[1, 8]` in Float32Array. */
    readonly servingDefaultInput20: Input<'float32', readonly [1, 8]>;
    /** `53`: int64 `[]` in BigInt64Array. */
    readonly input53: Input<'int64', readonly []>;
    /** `class`: bool `[batchSize, 2]` in Uint8Array. */
    readonly classValue: Input<'bool', readonly [number, 2]>;
    /** `text`: string `[batchSize]` in string[]. */
    readonly text: Input<'string', readonly [number]>;
    /** `int8`: int8 `[4]` in Int8Array. */
    readonly int8: Input<'int8', readonly [4]>;
    /** `uint8`: uint8 `[4, uint8Dim1]` in Uint8Array. */
    readonly uint8: Input<'uint8', readonly [4, number]>;
    /** `int16`: int16 `[2, 2]` in Int16Array. */
    readonly int16: Input<'int16', readonly [2, 2]>;
    /** `int32`: int32 `[int32Dim0, int32Dim1]` in Int32Array. Pass its sizes too: `{ data, shape }`. */
    readonly int32: Input<'int32', readonly [number, number]>;
    /** `float16`: float16 `[batchSize, pastSequence1]` in Uint16Array. Pass its sizes too: `{ data, shape }`. */
    readonly float16: Input<'float16', readonly [number, number]>;
    /** `bfloat16`: bfloat16 `[3]` in Uint16Array. */
    readonly bfloat16: Input<'bfloat16', readonly [3]>;
    /** `double`: double `[0, 3]` in Float64Array. */
    readonly double: Input<'float64', readonly [0, 3]>;
}
/** The outputs of {@link EveryThingV2}: values of each tensor one after the other, in row-major order. */
export interface EveryThingV2Outputs {
    /** `float$static`: float `[1, 4]` in Float32Array. */
    readonly floatStatic: Tensor<'float32', readonly [1, 4]>;
    /** `bool_static`: bool `[2]` in Uint8Array. */
    readonly boolStatic: Tensor<'bool', readonly [2]>;
    /** `half_static`: float16 `[]` in Uint16Array. */
    readonly halfStatic: Tensor<'float16', readonly []>;
    /** `declared_static`: float `[7]` in Float32Array. */
    readonly declaredStatic: Tensor<'float32', readonly [7]>;
    /** `scores`: double `[batchSize, ?]` in Float64Array. */
    readonly scores: Tensor<'float64', readonly [number, number]>;
    /** `scores_shape`: int64 `[rank]` in BigInt64Array. */
    readonly scoresShape: Tensor<'int64', readonly [number]>;
    /** `words`: string `[2]` in string[]. */
    readonly words: Tensor<'string', readonly [2]>;
    /** `uint16`: uint16 `[3]` in Uint16Array. */
    readonly uint16: Tensor<'uint16', readonly [3]>;
    /** `uint32`: uint32 `[3]` in Uint32Array. */
    readonly uint32: Tensor<'uint32', readonly [3]>;
    /** `uint64`: uint64 `[?]` in BigUint64Array. */
    readonly uint64: Tensor<'uint64', readonly [number]>;
    /** `bytes`: uint8 `[?]` in Uint8Array. */
    readonly bytes: Tensor<'uint8', readonly [number]>;
}
/** The tensors of {@link EveryThingV2}: names in the model, types, and shapes with `null` for a size that is open. */
export interface EveryThingV2Tensors {
    readonly inputs: {
        readonly servingDefaultInput20: TensorSpec<'float32', readonly [1, 8]>;
        readonly input53: TensorSpec<'int64', readonly []>;
        readonly classValue: TensorSpec<'bool', readonly [null, 2]>;
        readonly text: TensorSpec<'string', readonly [null]>;
        readonly int8: TensorSpec<'int8', readonly [4]>;
        readonly uint8: TensorSpec<'uint8', readonly [4, null]>;
        readonly int16: TensorSpec<'int16', readonly [2, 2]>;
        readonly int32: TensorSpec<'int32', readonly [null, null]>;
        readonly float16: TensorSpec<'float16', readonly [null, null]>;
        readonly bfloat16: TensorSpec<'bfloat16', readonly [3]>;
        readonly double: TensorSpec<'float64', readonly [0, 3]>;
    };
    readonly outputs: {
        readonly floatStatic: TensorSpec<'float32', readonly [1, 4]>;
        readonly boolStatic: TensorSpec<'bool', readonly [2]>;
        readonly halfStatic: TensorSpec<'float16', readonly []>;
        readonly declaredStatic: TensorSpec<'float32', readonly [7]>;
        readonly scores: TensorSpec<'float64', readonly [null, null]>;
        readonly scoresShape: TensorSpec<'int64', readonly [null]>;
        readonly words: TensorSpec<'string', readonly [2]>;
        readonly uint16: TensorSpec<'uint16', readonly [3]>;
        readonly uint32: TensorSpec<'uint32', readonly [3]>;
        readonly uint64: TensorSpec<'uint64', readonly [null]>;
        readonly bytes: TensorSpec<'uint8', readonly [null]>;
    };
}
/** A loaded {@link EveryThingV2}. */
export type EveryThingV2 = PlainModel<EveryThingV2Inputs, EveryThingV2Outputs>;
/**
 * The model `every-thing_v2`.
 *
 * ```ts
 * import { EveryThingV2 } from '@example/every-thing';
 * const model = await EveryThingV2.load();
 * const { floatStatic } = await model.run({ servingDefaultInput20, input53, classValue, text, int8, uint8, int16, int32, float16, bfloat16, double });
 * console.log(model.provider, floatStatic.shape, floatStatic.data);
 * ```
 */
export declare const EveryThingV2: EveryThingV2Tensors & ModelDefinition<EveryThingV2>;
