import type { TensorSpec } from '../runtime/descriptor.js';
import { type Frames, type FrameSource } from '../runtime/frames.js';
import { type ModelDefinition } from '../runtime/loading.js';
import { AnyModel } from '../runtime/model.js';
import type { Input, Tensor } from '../runtime/tensor.js';
import type { CallOptions } from '../runtime/typed/options.js';
import { type Picture } from '../runtime/typed/picture.js';
import { type Reading } from '../runtime/typed/text.js';
/** The inputs of {@link ReaderModel}: values of each tensor one after the other, in row-major order. */
export interface ReaderModelInputs {
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
/** The outputs of {@link ReaderModel}: values of each tensor one after the other, in row-major order. */
export interface ReaderModelOutputs {
    /** `text.symbols`: int64 `[text.count]` in BigInt64Array. */
    readonly textSymbols: Tensor<'int64', readonly [number]>;
    /** `text.scores`: float `[text.count]` in Float32Array. */
    readonly textScores: Tensor<'float32', readonly [number]>;
}
/** The tensors of {@link ReaderModel}: names in the model, types, and shapes with `null` for a size that is open. */
export interface ReaderModelTensors {
    readonly inputs: {
        readonly imagePixels: TensorSpec<'uint8', readonly [null, null, null]>;
        readonly imageChannels: TensorSpec<'int64', readonly [3]>;
        readonly imageOrientation: TensorSpec<'int64', readonly []>;
        readonly imageChroma: TensorSpec<'uint8', readonly [null, null, null]>;
        readonly imageConversion: TensorSpec<'int64', readonly [3]>;
    };
    readonly outputs: {
        readonly textSymbols: TensorSpec<'int64', readonly [null]>;
        readonly textScores: TensorSpec<'float32', readonly [null]>;
    };
}
/** A loaded {@link ReaderModel}. */
export interface ReaderModel extends AnyModel<ReaderModelInputs, ReaderModelOutputs> {
    /**
     * The text that the model reads.
     *
     * @throws ModelError `bad-input` for a picture that is not as it says; what `run` throws
     */
    read(image: Picture, options?: CallOptions): Promise<Reading>;
    /**
     * `read` while the JavaScript thread waits: for models that take less than a frame.
     *
     * @throws ModelError what `read` throws, and `unsupported` in a browser
     */
    readSync(image: Picture): Reading;
    /**
     * `read` of the latest frame of `source`, one after the other: of frames that come while the model is busy all
     * but the last are dropped. Ends with its source; leaving the loop ends the source.
     */
    frames(source: FrameSource<Picture>): Frames<Reading>;
}
/**
 * The model `reader`.
 *
 * ```ts
 * import { ReaderModel } from 'contracts-web';
 * const model = await ReaderModel.load();
 * const reading = await model.read({ data, width, height });
 * console.log(model.provider, reading);
 * ```
 */
export declare const ReaderModel: ReaderModelTensors & ModelDefinition<ReaderModel>;
