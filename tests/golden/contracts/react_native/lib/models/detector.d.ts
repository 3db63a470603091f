import type { TensorSpec } from '../runtime/descriptor.js';
import { type Frames, type FrameSource } from '../runtime/frames.js';
import { type HookOptions, type ModelState } from '../runtime/hook.js';
import { type ModelDefinition } from '../runtime/loading.js';
import { AnyModel } from '../runtime/model.js';
import type { Input, Tensor } from '../runtime/tensor.js';
import { type Detection } from '../runtime/typed/boxes.js';
import type { CallOptions } from '../runtime/typed/options.js';
import { type Picture } from '../runtime/typed/picture.js';
/** The inputs of {@link Detector}: values of each tensor one after the other, in row-major order. */
export interface DetectorInputs {
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
/** The outputs of {@link Detector}: values of each tensor one after the other, in row-major order. */
export interface DetectorOutputs {
    /** `found.boxes`: float `[found.count, 4]` in Float32Array. */
    readonly foundBoxes: Tensor<'float32', readonly [number, 4]>;
    /** `found.scores`: float `[found.count]` in Float32Array. */
    readonly foundScores: Tensor<'float32', readonly [number]>;
    /** `found.classes`: int64 `[found.count]` in BigInt64Array. */
    readonly foundClasses: Tensor<'int64', readonly [number]>;
}
/** The tensors of {@link Detector}: names in the model, types, and shapes with `null` for a size that is open. */
export interface DetectorTensors {
    readonly inputs: {
        readonly imagePixels: TensorSpec<'uint8', readonly [null, null, null]>;
        readonly imageChannels: TensorSpec<'int64', readonly [3]>;
        readonly imageOrientation: TensorSpec<'int64', readonly []>;
        readonly imageChroma: TensorSpec<'uint8', readonly [null, null, null]>;
        readonly imageConversion: TensorSpec<'int64', readonly [3]>;
    };
    readonly outputs: {
        readonly foundBoxes: TensorSpec<'float32', readonly [null, 4]>;
        readonly foundScores: TensorSpec<'float32', readonly [null]>;
        readonly foundClasses: TensorSpec<'int64', readonly [null]>;
    };
}
/** A loaded {@link Detector}. */
export interface Detector extends AnyModel<DetectorInputs, DetectorOutputs> {
    /**
     * The objects in a picture and where they are, best first.
     *
     * @throws ModelError `bad-input` for a picture that is not as it says; what `run` throws
     */
    detect(image: Picture, options?: CallOptions): Promise<readonly Detection[]>;
    /**
     * `detect` while the JavaScript thread waits: for models that take less than a frame.
     *
     * @throws ModelError what `detect` throws, and `unsupported` in a browser
     */
    detectSync(image: Picture): readonly Detection[];
    /**
     * `detect` of the latest frame of `source`, one after the other: of frames that come while the model is busy all
     * but the last are dropped. Ends with its source; leaving the loop ends the source.
     */
    frames(source: FrameSource<Picture>): Frames<readonly Detection[]>;
}
/**
 * The model `detector`.
 *
 * ```ts
 * import { Detector } from 'react-native-contracts';
 * const model = await Detector.load();
 * const found = await model.detect({ data, width, height });
 * console.log(model.provider, found);
 * ```
 */
export declare const Detector: DetectorTensors & ModelDefinition<Detector>;
/**
 * {@link Detector} in a component: loaded when it is mounted, disposed of when it is unmounted.
 */
export declare function useDetector(options?: HookOptions): ModelState<Detector>;
