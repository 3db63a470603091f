import type { TensorSpec } from '../runtime/descriptor.js';
import { type Frames, type FrameSource } from '../runtime/frames.js';
import { type ModelDefinition } from '../runtime/loading.js';
import { AnyModel } from '../runtime/model.js';
import type { Input, Tensor } from '../runtime/tensor.js';
import { type Classification } from '../runtime/typed/classes.js';
import { type ClassifyOptions, type ClassifySyncOptions } from '../runtime/typed/options.js';
import { type Sound } from '../runtime/typed/sound.js';
/** The inputs of {@link ListenerModel}: values of each tensor one after the other, in row-major order. */
export interface ListenerModelInputs {
    /** `audio.samples`: float `[audioFrames, audioChannels]` in Float32Array. Pass its sizes too: `{ data, shape }`. */
    readonly audioSamples: Input<'float32', readonly [number, number]>;
    /** `audio.rate`: int64 `[]` in BigInt64Array. */
    readonly audioRate: Input<'int64', readonly []>;
    /** `state`: float `[2, 1, 128]` in Float32Array. */
    readonly state: Input<'float32', readonly [2, 1, 128]>;
}
/** The outputs of {@link ListenerModel}: values of each tensor one after the other, in row-major order. */
export interface ListenerModelOutputs {
    /** `logits.scores`: float `[4]` in Float32Array. */
    readonly logitsScores: Tensor<'float32', readonly [4]>;
    /** `stateN`: float `[2, 1, 128]` in Float32Array. */
    readonly stateN: Tensor<'float32', readonly [2, 1, 128]>;
}
/** The tensors of {@link ListenerModel}: names in the model, types, and shapes with `null` for a size that is open. */
export interface ListenerModelTensors {
    readonly inputs: {
        readonly audioSamples: TensorSpec<'float32', readonly [null, null]>;
        readonly audioRate: TensorSpec<'int64', readonly []>;
        readonly state: TensorSpec<'float32', readonly [2, 1, 128]>;
    };
    readonly outputs: {
        readonly logitsScores: TensorSpec<'float32', readonly [4]>;
        readonly stateN: TensorSpec<'float32', readonly [2, 1, 128]>;
    };
}
/** A loaded {@link ListenerModel}. */
export interface ListenerModel extends AnyModel<ListenerModelInputs, ListenerModelOutputs> {
    /**
     * The classes that fit, best first; classes below the threshold of the model are left out.
     * `top` is 3 by default.
     *
     * Calls run one after the other, each with the state that the one before left; `reset` starts anew.
     *
     * @throws ModelError `bad-input` for a sound that is not as it says; what `run` throws
     */
    classify(audio: Sound, options?: ClassifyOptions): Promise<readonly Classification[]>;
    /**
     * `classify` while the JavaScript thread waits: for models that take less than a frame.
     *
     * @throws ModelError what `classify` throws, and `unsupported` in a browser or while `classify` is under way
     */
    classifySync(audio: Sound, options?: ClassifySyncOptions): readonly Classification[];
    /**
     * `classify` of the latest frame of `source`, one after the other: of frames that come while the model is busy all
     * but the last are dropped. Ends with its source; leaving the loop ends the source.
     */
    frames(source: FrameSource<Sound>, options?: ClassifySyncOptions): Frames<readonly Classification[]>;
    /** Resets the state: the next call is a first one. */
    reset(): void;
}
/**
 * The model `listener`.
 *
 * ```ts
 * import { ListenerModel } from 'contracts-web';
 * const model = await ListenerModel.load();
 * const classes = await model.classify({ samples, rate });
 * console.log(model.provider, classes);
 * ```
 */
export declare const ListenerModel: ListenerModelTensors & ModelDefinition<ListenerModel>;
