import type { TensorSpec } from '../runtime/descriptor.js';
import { type ModelDefinition } from '../runtime/loading.js';
import { AnyModel } from '../runtime/model.js';
import type { Input, Tensor } from '../runtime/tensor.js';
import { type GeneratedText, type SeedOptions } from '../runtime/typed/generation.js';
/** The inputs of {@link Storyteller}: values of each tensor one after the other, in row-major order. */
export interface StorytellerInputs {
    /** `prompt.text`: int32 `[promptCharacters]` in Int32Array. */
    readonly promptText: Input<'int32', readonly [number]>;
    /** `past.key`: float `[1, 2, pastLength, 8]` in Float32Array. */
    readonly pastKey: Input<'float32', readonly [1, 2, number, 8]>;
    /** `logits.progress`: int64 `[4]` in BigInt64Array. */
    readonly logitsProgress: Input<'int64', readonly [4]>;
    /** `logits.bytes`: int64 `[logitsWaitingBytes]` in BigInt64Array. */
    readonly logitsBytes: Input<'int64', readonly [number]>;
    /** `logits.seed`: int64 `[1]` in BigInt64Array. */
    readonly logitsSeed: Input<'int64', readonly [1]>;
}
/** The outputs of {@link Storyteller}: values of each tensor one after the other, in row-major order. */
export interface StorytellerOutputs {
    /** `logits.characters`: int32 `[logits.new characters]` in Int32Array. */
    readonly logitsCharacters: Tensor<'int32', readonly [number]>;
    /** `logits.finished`: int32 `[1]` in Int32Array. */
    readonly logitsFinished: Tensor<'int32', readonly [1]>;
    /** `logits.next progress`: int64 `[4]` in BigInt64Array. */
    readonly logitsNextProgress: Tensor<'int64', readonly [4]>;
    /** `logits.next bytes`: int64 `[next waiting bytes]` in BigInt64Array. */
    readonly logitsNextBytes: Tensor<'int64', readonly [number]>;
    /** `present.key`: float `[1, 2, total length, 8]` in Float32Array. */
    readonly presentKey: Tensor<'float32', readonly [1, 2, number, 8]>;
}
/** The tensors of {@link Storyteller}: names in the model, types, and shapes with `null` for a size that is open. */
export interface StorytellerTensors {
    readonly inputs: {
        readonly promptText: TensorSpec<'int32', readonly [null]>;
        readonly pastKey: TensorSpec<'float32', readonly [1, 2, null, 8]>;
        readonly logitsProgress: TensorSpec<'int64', readonly [4]>;
        readonly logitsBytes: TensorSpec<'int64', readonly [null]>;
        readonly logitsSeed: TensorSpec<'int64', readonly [1]>;
    };
    readonly outputs: {
        readonly logitsCharacters: TensorSpec<'int32', readonly [null]>;
        readonly logitsFinished: TensorSpec<'int32', readonly [1]>;
        readonly logitsNextProgress: TensorSpec<'int64', readonly [4]>;
        readonly logitsNextBytes: TensorSpec<'int64', readonly [null]>;
        readonly presentKey: TensorSpec<'float32', readonly [1, 2, null, 8]>;
    };
}
/** A loaded {@link Storyteller}. */
export interface Storyteller extends AnyModel<StorytellerInputs, StorytellerOutputs> {
    /**
     * The text that follows, part by part, as the model makes it.
     *
     * The model runs once for each token, when the next part is asked for; several texts take turns. A part is rejected with
     * a ModelError: `bad-input` for a text that is not as it says; what `run` throws.
     */
    generate(prompt: string, options?: SeedOptions): GeneratedText;
}
/**
 * The model `storyteller`.
 *
 * ```ts
 * import { Storyteller } from 'contracts-web';
 * const model = await Storyteller.load();
 * for await (const part of model.generate('some text')) console.log(part);
 * ```
 */
export declare const Storyteller: StorytellerTensors & ModelDefinition<Storyteller>;
