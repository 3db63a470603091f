import type { TensorSpec } from '../runtime/descriptor.js';
import { type Frames, type FrameSource } from '../runtime/frames.js';
import { type ModelDefinition } from '../runtime/loading.js';
import { AnyModel } from '../runtime/model.js';
import type { Input, Tensor } from '../runtime/tensor.js';
import { type Classification } from '../runtime/typed/classes.js';
import { type ClassifyOptions, type ClassifySyncOptions } from '../runtime/typed/options.js';
/** The inputs of {@link Matcher}: values of each tensor one after the other, in row-major order. */
export interface MatcherInputs {
    /** `query.text`: int32 `[queryCharacters]` in Int32Array. */
    readonly queryText: Input<'int32', readonly [number]>;
    /** `query.document`: int32 `[documentCharacters]` in Int32Array. */
    readonly queryDocument: Input<'int32', readonly [number]>;
}
/** The outputs of {@link Matcher}: values of each tensor one after the other, in row-major order. */
export interface MatcherOutputs {
    /** `logits.scores`: float `[4]` in Float32Array. */
    readonly logitsScores: Tensor<'float32', readonly [4]>;
}
/** The tensors of {@link Matcher}: names in the model, types, and shapes with `null` for a size that is open. */
export interface MatcherTensors {
    readonly inputs: {
        readonly queryText: TensorSpec<'int32', readonly [null]>;
        readonly queryDocument: TensorSpec<'int32', readonly [null]>;
    };
    readonly outputs: {
        readonly logitsScores: TensorSpec<'float32', readonly [4]>;
    };
}
/** A loaded {@link Matcher}. */
export interface Matcher extends AnyModel<MatcherInputs, MatcherOutputs> {
    /**
     * The classes that fit, best first; classes below the threshold of the model are left out.
     * `top` is 3 by default.
     *
     * @throws ModelError `bad-input` for a text that is not as it says; what `run` throws
     */
    classify(query: string, document: string, options?: ClassifyOptions): Promise<readonly Classification[]>;
    /**
     * `classify` while the JavaScript thread waits: for models that take less than a frame.
     *
     * @throws ModelError what `classify` throws, and `unsupported` in a browser
     */
    classifySync(query: string, document: string, options?: ClassifySyncOptions): readonly Classification[];
    /**
     * `classify` of the latest frame of `source`, one after the other: of frames that come while the model is busy all
     * but the last are dropped. Ends with its source; leaving the loop ends the source.
     */
    frames(source: FrameSource<readonly [query: string, document: string]>, options?: ClassifySyncOptions): Frames<readonly Classification[]>;
}
/**
 * The model `matcher`.
 *
 * ```ts
 * import { Matcher } from 'contracts-web';
 * const model = await Matcher.load();
 * const classes = await model.classify('some text', 'some text');
 * console.log(model.provider, classes);
 * ```
 */
export declare const Matcher: MatcherTensors & ModelDefinition<Matcher>;
