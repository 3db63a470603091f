import type { TensorSpec } from '../runtime/descriptor.js';
import { type ModelDefinition } from '../runtime/loading.js';
import type { Input, Tensor } from '../runtime/tensor.js';
import type { PlainModel } from '../runtime/plainModel.js';
/** The inputs of {@link OptionsModel}: values of each tensor one after the other, in row-major order. */
export interface OptionsModelInputs {
    /** `tokens`: int32 `[1, 512]` in Int32Array. */
    readonly tokens: Input<'int32', readonly [1, 512]>;
}
/** The outputs of {@link OptionsModel}: values of each tensor one after the other, in row-major order. */
export interface OptionsModelOutputs {
    /** `embedding`: float `[1, 384]` in Float32Array. */
    readonly embedding: Tensor<'float32', readonly [1, 384]>;
}
/** The tensors of {@link OptionsModel}: names in the model, types, and shapes with `null` for a size that is open. */
export interface OptionsModelTensors {
    readonly inputs: {
        readonly tokens: TensorSpec<'int32', readonly [1, 512]>;
    };
    readonly outputs: {
        readonly embedding: TensorSpec<'float32', readonly [1, 384]>;
    };
}
/** A loaded {@link OptionsModel}. */
export type OptionsModel = PlainModel<OptionsModelInputs, OptionsModelOutputs>;
/**
 * The model `options`.
 *
 * ```ts
 * import { OptionsModel } from '@example/every-thing';
 * const model = await OptionsModel.load();
 * const { embedding } = await model.run({ tokens });
 * console.log(model.provider, embedding.shape, embedding.data);
 * ```
 */
export declare const OptionsModel: OptionsModelTensors & ModelDefinition<OptionsModel>;
