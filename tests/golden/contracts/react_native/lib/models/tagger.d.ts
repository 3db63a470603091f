import type { TensorSpec } from '../runtime/descriptor.js';
import { type Frames, type FrameSource } from '../runtime/frames.js';
import { type HookOptions, type ModelState } from '../runtime/hook.js';
import { type ModelDefinition } from '../runtime/loading.js';
import { AnyModel } from '../runtime/model.js';
import type { Input, Tensor } from '../runtime/tensor.js';
import { type Entity } from '../runtime/typed/entities.js';
import type { CallOptions } from '../runtime/typed/options.js';
/** The inputs of {@link Tagger}: values of each tensor one after the other, in row-major order. */
export interface TaggerInputs {
    /** `query.text`: int32 `[queryCharacters]` in Int32Array. */
    readonly queryText: Input<'int32', readonly [number]>;
}
/** The outputs of {@link Tagger}: values of each tensor one after the other, in row-major order. */
export interface TaggerOutputs {
    /** `tags.classes`: int64 `[tags.count]` in BigInt64Array. */
    readonly tagsClasses: Tensor<'int64', readonly [number]>;
    /** `tags.starts`: int64 `[tags.count]` in BigInt64Array. */
    readonly tagsStarts: Tensor<'int64', readonly [number]>;
    /** `tags.ends`: int64 `[tags.count]` in BigInt64Array. */
    readonly tagsEnds: Tensor<'int64', readonly [number]>;
    /** `tags.scores`: float `[tags.count]` in Float32Array. */
    readonly tagsScores: Tensor<'float32', readonly [number]>;
}
/** The tensors of {@link Tagger}: names in the model, types, and shapes with `null` for a size that is open. */
export interface TaggerTensors {
    readonly inputs: {
        readonly queryText: TensorSpec<'int32', readonly [null]>;
    };
    readonly outputs: {
        readonly tagsClasses: TensorSpec<'int64', readonly [null]>;
        readonly tagsStarts: TensorSpec<'int64', readonly [null]>;
        readonly tagsEnds: TensorSpec<'int64', readonly [null]>;
        readonly tagsScores: TensorSpec<'float32', readonly [null]>;
    };
}
/** A loaded {@link Tagger}. */
export interface Tagger extends AnyModel<TaggerInputs, TaggerOutputs> {
    /**
     * The named parts of the text, in its order.
     *
     * @throws ModelError `bad-input` for a text that is not as it says; what `run` throws
     */
    entities(query: string, options?: CallOptions): Promise<readonly Entity[]>;
    /**
     * `entities` while the JavaScript thread waits: for models that take less than a frame.
     *
     * @throws ModelError what `entities` throws, and `unsupported` in a browser
     */
    entitiesSync(query: string): readonly Entity[];
    /**
     * `entities` of the latest frame of `source`, one after the other: of frames that come while the model is busy all
     * but the last are dropped. Ends with its source; leaving the loop ends the source.
     */
    frames(source: FrameSource<string>): Frames<readonly Entity[]>;
}
/**
 * The model `tagger`.
 *
 * ```ts
 * import { Tagger } from 'react-native-contracts';
 * const model = await Tagger.load();
 * const found = await model.entities('some text');
 * console.log(model.provider, found);
 * ```
 */
export declare const Tagger: TaggerTensors & ModelDefinition<Tagger>;
/**
 * {@link Tagger} in a component: loaded when it is mounted, disposed of when it is unmounted.
 */
export declare function useTagger(options?: HookOptions): ModelState<Tagger>;
