import type { TensorSpec } from '../runtime/descriptor.js';
import { type Frames, type FrameSource } from '../runtime/frames.js';
import { type HookOptions, type ModelState } from '../runtime/hook.js';
import { type ModelDefinition } from '../runtime/loading.js';
import { AnyModel } from '../runtime/model.js';
import type { Input, Tensor } from '../runtime/tensor.js';
import type { CallOptions } from '../runtime/typed/options.js';
import { type Picture } from '../runtime/typed/picture.js';
/** The inputs of {@link Finder}: values of each tensor one after the other, in row-major order. */
export interface FinderInputs {
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
/** The outputs of {@link Finder}: values of each tensor one after the other, in row-major order. */
export interface FinderOutputs {
    /** `feature.vector`: float `[256]` in Float32Array. */
    readonly featureVector: Tensor<'float32', readonly [256]>;
}
/** The tensors of {@link Finder}: names in the model, types, and shapes with `null` for a size that is open. */
export interface FinderTensors {
    readonly inputs: {
        readonly imagePixels: TensorSpec<'uint8', readonly [null, null, null]>;
        readonly imageChannels: TensorSpec<'int64', readonly [3]>;
        readonly imageOrientation: TensorSpec<'int64', readonly []>;
        readonly imageChroma: TensorSpec<'uint8', readonly [null, null, null]>;
        readonly imageConversion: TensorSpec<'int64', readonly [3]>;
    };
    readonly outputs: {
        readonly featureVector: TensorSpec<'float32', readonly [256]>;
    };
}
/** A loaded {@link Finder}. */
export interface Finder extends AnyModel<FinderInputs, FinderOutputs> {
    /**
     * A vector of length 1: vectors of similar inputs are near each other.
     *
     * @throws ModelError `bad-input` for a picture that is not as it says; what `run` throws
     */
    embed(image: Picture, options?: CallOptions): Promise<Float32Array>;
    /**
     * `embed` while the JavaScript thread waits: for models that take less than a frame.
     *
     * @throws ModelError what `embed` throws, and `unsupported` in a browser
     */
    embedSync(image: Picture): Float32Array;
    /**
     * `embed` of the latest frame of `source`, one after the other: of frames that come while the model is busy all
     * but the last are dropped. Ends with its source; leaving the loop ends the source.
     */
    frames(source: FrameSource<Picture>): Frames<Float32Array>;
}
/**
 * The model `finder`.
 *
 * ```ts
 * import { Finder } from 'react-native-contracts';
 * const model = await Finder.load();
 * const vector = await model.embed({ data, width, height });
 * console.log(model.provider, vector);
 * ```
 */
export declare const Finder: FinderTensors & ModelDefinition<Finder>;
/**
 * {@link Finder} in a component: loaded when it is mounted, disposed of when it is unmounted.
 */
export declare function useFinder(options?: HookOptions): ModelState<Finder>;
