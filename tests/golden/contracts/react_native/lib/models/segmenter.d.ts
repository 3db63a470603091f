import type { TensorSpec } from '../runtime/descriptor.js';
import { type Frames, type FrameSource } from '../runtime/frames.js';
import { type HookOptions, type ModelState } from '../runtime/hook.js';
import { type ModelDefinition } from '../runtime/loading.js';
import { AnyModel } from '../runtime/model.js';
import type { Input, Tensor } from '../runtime/tensor.js';
import { type Mask } from '../runtime/typed/mask.js';
import type { CallOptions } from '../runtime/typed/options.js';
import { type Picture } from '../runtime/typed/picture.js';
/** The inputs of {@link Segmenter}: values of each tensor one after the other, in row-major order. */
export interface SegmenterInputs {
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
/** The outputs of {@link Segmenter}: values of each tensor one after the other, in row-major order. */
export interface SegmenterOutputs {
    /** `mask.classes`: uint8 `[mask.height, mask.width]` in Uint8Array. */
    readonly maskClasses: Tensor<'uint8', readonly [number, number]>;
    /** `mask.scores`: float `[mask.height, mask.width]` in Float32Array. */
    readonly maskScores: Tensor<'float32', readonly [number, number]>;
}
/** The tensors of {@link Segmenter}: names in the model, types, and shapes with `null` for a size that is open. */
export interface SegmenterTensors {
    readonly inputs: {
        readonly imagePixels: TensorSpec<'uint8', readonly [null, null, null]>;
        readonly imageChannels: TensorSpec<'int64', readonly [3]>;
        readonly imageOrientation: TensorSpec<'int64', readonly []>;
        readonly imageChroma: TensorSpec<'uint8', readonly [null, null, null]>;
        readonly imageConversion: TensorSpec<'int64', readonly [3]>;
    };
    readonly outputs: {
        readonly maskClasses: TensorSpec<'uint8', readonly [null, null]>;
        readonly maskScores: TensorSpec<'float32', readonly [null, null]>;
    };
}
/** A loaded {@link Segmenter}. */
export interface Segmenter extends AnyModel<SegmenterInputs, SegmenterOutputs> {
    /**
     * The class at each place of a picture.
     *
     * @throws ModelError `bad-input` for a picture that is not as it says; what `run` throws
     */
    segment(image: Picture, options?: CallOptions): Promise<Mask>;
    /**
     * `segment` while the JavaScript thread waits: for models that take less than a frame.
     *
     * @throws ModelError what `segment` throws, and `unsupported` in a browser
     */
    segmentSync(image: Picture): Mask;
    /**
     * `segment` of the latest frame of `source`, one after the other: of frames that come while the model is busy all
     * but the last are dropped. Ends with its source; leaving the loop ends the source.
     */
    frames(source: FrameSource<Picture>): Frames<Mask>;
}
/**
 * The model `segmenter`.
 *
 * ```ts
 * import { Segmenter } from 'react-native-contracts';
 * const model = await Segmenter.load();
 * const mask = await model.segment({ data, width, height });
 * console.log(model.provider, mask);
 * ```
 */
export declare const Segmenter: SegmenterTensors & ModelDefinition<Segmenter>;
/**
 * {@link Segmenter} in a component: loaded when it is mounted, disposed of when it is unmounted.
 */
export declare function useSegmenter(options?: HookOptions): ModelState<Segmenter>;
