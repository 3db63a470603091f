import type { TensorSpec } from '../runtime/descriptor.js';
import { type Frames, type FrameSource } from '../runtime/frames.js';
import { type ModelDefinition } from '../runtime/loading.js';
import { AnyModel } from '../runtime/model.js';
import type { Input, Tensor } from '../runtime/tensor.js';
import { type Classification } from '../runtime/typed/classes.js';
import type { CallOptions } from '../runtime/typed/options.js';
import { type Picture } from '../runtime/typed/picture.js';
/** The inputs of {@link Several}: values of each tensor one after the other, in row-major order. */
export interface SeveralInputs {
    /** `image.pixels`: uint8 `[imageHeight, imageWidth, imageChannels2]` in Uint8Array. Pass its sizes too: `{ data, shape }`. */
    readonly imagePixels: Input<'uint8', readonly [number, number, number]>;
    /** `image.channels`: int64 `[3]` in BigInt64Array. */
    readonly imageChannels: Input<'int64', readonly [3]>;
    /** `image.orientation`: int64 `[]` in BigInt64Array. */
    readonly imageOrientation: Input<'int64', readonly []>;
    /** `image.chroma`: uint8 `[imageChromaHeight, imageChromaWidth, imageChromaChannels]` in Uint8Array. Pass its sizes too: `{ data, shape }`. */
    readonly imageChroma: Input<'uint8', readonly [number, number, number]>;
    /** `image.conversion`: int64 `[3]` in BigInt64Array. */
    readonly imageConversion: Input<'int64', readonly [3]>;
    /** `lengths`: int64 `[batch, 2]` in BigInt64Array. */
    readonly lengths: Input<'int64', readonly [number, 2]>;
}
/** The outputs of {@link Several}: values of each tensor one after the other, in row-major order. */
export interface SeveralOutputs {
    /** `logits.scores`: float `[4]` in Float32Array. */
    readonly logitsScores: Tensor<'float32', readonly [4]>;
    /** `feature.vector`: float `[256]` in Float32Array. */
    readonly featureVector: Tensor<'float32', readonly [256]>;
    /** `raw`: float `[1, steps, 8]` in Float32Array. */
    readonly raw: Tensor<'float32', readonly [1, number, 8]>;
}
/** The tensors of {@link Several}: names in the model, types, and shapes with `null` for a size that is open. */
export interface SeveralTensors {
    readonly inputs: {
        readonly imagePixels: TensorSpec<'uint8', readonly [null, null, null]>;
        readonly imageChannels: TensorSpec<'int64', readonly [3]>;
        readonly imageOrientation: TensorSpec<'int64', readonly []>;
        readonly imageChroma: TensorSpec<'uint8', readonly [null, null, null]>;
        readonly imageConversion: TensorSpec<'int64', readonly [3]>;
        readonly lengths: TensorSpec<'int64', readonly [null, 2]>;
    };
    readonly outputs: {
        readonly logitsScores: TensorSpec<'float32', readonly [4]>;
        readonly featureVector: TensorSpec<'float32', readonly [256]>;
        readonly raw: TensorSpec<'float32', readonly [1, null, 8]>;
    };
}
/** The answer of {@link Several}. */
export interface SeveralPrediction {
    /** The classes that fit, best first; classes below the threshold of the model are left out. */
    readonly logits: readonly Classification[];
    /** A vector of length 1: vectors of similar inputs are near each other. */
    readonly feature: Float32Array;
    /** A tensor, as the model has it. */
    readonly raw: SeveralOutputs['raw'];
}
/** A loaded {@link Several}. */
export interface Several extends AnyModel<SeveralInputs, SeveralOutputs> {
    /**
     * Gives all that the model says.
     *
     * @throws ModelError `bad-input` for a picture that is not as it says; what `run` throws
     */
    predict(image: Picture, lengths: SeveralInputs['lengths'], options?: CallOptions): Promise<SeveralPrediction>;
    /**
     * `predict` while the JavaScript thread waits: for models that take less than a frame.
     *
     * @throws ModelError what `predict` throws, and `unsupported` in a browser
     */
    predictSync(image: Picture, lengths: SeveralInputs['lengths']): SeveralPrediction;
    /**
     * `predict` of the latest frame of `source`, one after the other: of frames that come while the model is busy all
     * but the last are dropped. Ends with its source; leaving the loop ends the source.
     */
    frames(source: FrameSource<readonly [image: Picture, lengths: SeveralInputs['lengths']]>): Frames<SeveralPrediction>;
}
/**
 * The model `several`.
 *
 * ```ts
 * import { Several } from 'contracts-web';
 * const model = await Several.load();
 * const found = await model.predict({ data, width, height }, lengths);
 * console.log(model.provider, found);
 * ```
 */
export declare const Several: SeveralTensors & ModelDefinition<Several>;
