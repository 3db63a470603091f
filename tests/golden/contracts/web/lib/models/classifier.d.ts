import { type TensorSpec } from '../runtime/descriptor.js';
import { type Frames, type FrameSource } from '../runtime/frames.js';
import { type ModelDefinition } from '../runtime/loading.js';
import { AnyModel } from '../runtime/model.js';
import type { Input, Tensor } from '../runtime/tensor.js';
import { type Classification } from '../runtime/typed/classes.js';
import { type ClassifyOptions, type ClassifySyncOptions } from '../runtime/typed/options.js';
import { type Picture } from '../runtime/typed/picture.js';
/** The inputs of {@link Classifier}: values of each tensor one after the other, in row-major order. */
export interface ClassifierInputs {
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
}
/** The outputs of {@link Classifier}: values of each tensor one after the other, in row-major order. */
export interface ClassifierOutputs {
    /** `logits.scores`: float `[4]` in Float32Array. */
    readonly logitsScores: Tensor<'float32', readonly [4]>;
}
/** The tensors of {@link Classifier}: names in the model, types, and shapes with `null` for a size that is open. */
export interface ClassifierTensors {
    readonly inputs: {
        readonly imagePixels: TensorSpec<'uint8', readonly [null, null, null]>;
        readonly imageChannels: TensorSpec<'int64', readonly [3]>;
        readonly imageOrientation: TensorSpec<'int64', readonly []>;
        readonly imageChroma: TensorSpec<'uint8', readonly [null, null, null]>;
        readonly imageConversion: TensorSpec<'int64', readonly [3]>;
    };
    readonly outputs: {
        readonly logitsScores: TensorSpec<'float32', readonly [4]>;
    };
}
/** A loaded {@link Classifier}. */
export interface Classifier extends AnyModel<ClassifierInputs, ClassifierOutputs> {
    /**
     * The classes that fit, best first; classes below the threshold of the model are left out.
     * `top` is 3 by default.
     *
     * @throws ModelError `bad-input` for a picture that is not as it says; what `run` throws
     */
    classify(image: Picture, options?: ClassifyOptions): Promise<readonly Classification[]>;
    /**
     * `classify` while the JavaScript thread waits: for models that take less than a frame.
     *
     * @throws ModelError what `classify` throws, and `unsupported` in a browser
     */
    classifySync(image: Picture, options?: ClassifySyncOptions): readonly Classification[];
    /**
     * `classify` of the latest frame of `source`, one after the other: of frames that come while the model is busy all
     * but the last are dropped. Ends with its source; leaving the loop ends the source.
     */
    frames(source: FrameSource<Picture>, options?: ClassifySyncOptions): Frames<readonly Classification[]>;
}
/**
 * The model `classifier`.
 *
 * ```ts
 * import { Classifier } from 'contracts-web';
 * const model = await Classifier.load();
 * const classes = await model.classify({ data, width, height });
 * console.log(model.provider, classes);
 * ```
 */
export declare const Classifier: ClassifierTensors & ModelDefinition<Classifier>;
