import { type TensorSpec } from '../runtime/descriptor.js';
import { type ModelDefinition } from '../runtime/loading.js';
import type { Input, Tensor } from '../runtime/tensor.js';
import type { PlainModel } from '../runtime/plainModel.js';
/** The inputs of {@link Classifier}: values of each tensor one after the other, in row-major order. */
export interface ClassifierInputs {
    /** `x`: float `[batch, 3, 224, 224]` in Float32Array. */
    readonly x: Input<'float32', readonly [number, 3, 224, 224]>;
}
/** The outputs of {@link Classifier}: values of each tensor one after the other, in row-major order. */
export interface ClassifierOutputs {
    /** `logits`: float `[batch, 4]` in Float32Array. */
    readonly logits: Tensor<'float32', readonly [number, 4]>;
}
/** The tensors of {@link Classifier}: names in the model, types, and shapes with `null` for a size that is open. */
export interface ClassifierTensors {
    readonly inputs: {
        readonly x: TensorSpec<'float32', readonly [null, 3, 224, 224]>;
    };
    readonly outputs: {
        readonly logits: TensorSpec<'float32', readonly [null, 4]>;
    };
}
/** A loaded {@link Classifier}. */
export type Classifier = PlainModel<ClassifierInputs, ClassifierOutputs>;
/**
 * The model `classifier`.
 *
 * ```ts
 * import { Classifier } from 'cpu-alone-web';
 * const model = await Classifier.load();
 * const { logits } = await model.run({ x });
 * console.log(model.provider, logits.shape, logits.data);
 * ```
 */
export declare const Classifier: ClassifierTensors & ModelDefinition<Classifier>;
