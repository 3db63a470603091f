import type { TensorSpec } from '../runtime/descriptor.js';
import { type Frames, type FrameSource } from '../runtime/frames.js';
import { type ModelDefinition } from '../runtime/loading.js';
import { AnyModel } from '../runtime/model.js';
import type { Input, Tensor } from '../runtime/tensor.js';
import type { CallOptions } from '../runtime/typed/options.js';
/** The inputs of {@link Embedder}: values of each tensor one after the other, in row-major order. */
export interface EmbedderInputs {
    /** `query.text`: int32 `[queryCharacters]` in Int32Array. */
    readonly queryText: Input<'int32', readonly [number]>;
}
/** The outputs of {@link Embedder}: values of each tensor one after the other, in row-major order. */
export interface EmbedderOutputs {
    /** `feature.vector`: float `[256]` in Float32Array. */
    readonly featureVector: Tensor<'float32', readonly [256]>;
}
/** The tensors of {@link Embedder}: names in the model, types, and shapes with `null` for a size that is open. */
export interface EmbedderTensors {
    readonly inputs: {
        readonly queryText: TensorSpec<'int32', readonly [null]>;
    };
    readonly outputs: {
        readonly featureVector: TensorSpec<'float32', readonly [256]>;
    };
}
/** A loaded {@link Embedder}. */
export interface Embedder extends AnyModel<EmbedderInputs, EmbedderOutputs> {
    /**
     * A vector of length 1: vectors of similar inputs are near each other.
     *
     * @throws ModelError `bad-input` for a text that is not as it says; what `run` throws
     */
    embed(query: string, options?: CallOptions): Promise<Float32Array>;
    /**
     * `embed` while the JavaScript thread waits: for models that take less than a frame.
     *
     * @throws ModelError what `embed` throws, and `unsupported` in a browser
     */
    embedSync(query: string): Float32Array;
    /**
     * `embed` of the latest frame of `source`, one after the other: of frames that come while the model is busy all
     * but the last are dropped. Ends with its source; leaving the loop ends the source.
     */
    frames(source: FrameSource<string>): Frames<Float32Array>;
}
/**
 * The model `embedder`.
 *
 * ```ts
 * import { Embedder } from 'contracts-web';
 * const model = await Embedder.load();
 * const vector = await model.embed('some text');
 * console.log(model.provider, vector);
 * ```
 */
export declare const Embedder: EmbedderTensors & ModelDefinition<Embedder>;
