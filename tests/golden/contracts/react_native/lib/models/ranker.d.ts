import type { TensorSpec } from '../runtime/descriptor.js';
import { type Frames, type FrameSource } from '../runtime/frames.js';
import { type HookOptions, type ModelState } from '../runtime/hook.js';
import { type ModelDefinition } from '../runtime/loading.js';
import { AnyModel } from '../runtime/model.js';
import type { Input, Tensor } from '../runtime/tensor.js';
import type { CallOptions } from '../runtime/typed/options.js';
import { type Ranked } from '../runtime/typed/ranking.js';
/** The inputs of {@link Ranker}: values of each tensor one after the other, in row-major order. */
export interface RankerInputs {
    /** `query.text`: int32 `[queryCharacters]` in Int32Array. */
    readonly queryText: Input<'int32', readonly [number]>;
    /** `query.document`: int32 `[documentCharacters]` in Int32Array. */
    readonly queryDocument: Input<'int32', readonly [number]>;
}
/** The outputs of {@link Ranker}: values of each tensor one after the other, in row-major order. */
export interface RankerOutputs {
    /** `logits.score`: float `[1]` in Float32Array. */
    readonly logitsScore: Tensor<'float32', readonly [1]>;
}
/** The tensors of {@link Ranker}: names in the model, types, and shapes with `null` for a size that is open. */
export interface RankerTensors {
    readonly inputs: {
        readonly queryText: TensorSpec<'int32', readonly [null]>;
        readonly queryDocument: TensorSpec<'int32', readonly [null]>;
    };
    readonly outputs: {
        readonly logitsScore: TensorSpec<'float32', readonly [1]>;
    };
}
/** A loaded {@link Ranker}. */
export interface Ranker extends AnyModel<RankerInputs, RankerOutputs> {
    /**
     * How well the document fits the query.
     *
     * @throws ModelError `bad-input` for a text that is not as it says; what `run` throws
     */
    score(query: string, document: string, options?: CallOptions): Promise<number>;
    /**
     * `score` while the JavaScript thread waits: for models that take less than a frame.
     *
     * @throws ModelError what `score` throws, and `unsupported` in a browser
     */
    scoreSync(query: string, document: string): number;
    /**
     * `score` of the latest frame of `source`, one after the other: of frames that come while the model is busy all
     * but the last are dropped. Ends with its source; leaving the loop ends the source.
     */
    frames(source: FrameSource<readonly [query: string, document: string]>): Frames<number>;
    /**
     * The places and scores of documents by how well they fit a query: best first, and of equal ones the first. The model
     * runs once for each.
     *
     * @throws ModelError what `score` throws; `signal` also ends it between two documents
     */
    rank(query: string, documents: readonly string[], options?: CallOptions): Promise<readonly Ranked[]>;
}
/**
 * The model `ranker`.
 *
 * ```ts
 * import { Ranker } from 'react-native-contracts';
 * const model = await Ranker.load();
 * const score = await model.score('some text', 'some text');
 * console.log(model.provider, score);
 * ```
 */
export declare const Ranker: RankerTensors & ModelDefinition<Ranker>;
/**
 * {@link Ranker} in a component: loaded when it is mounted, disposed of when it is unmounted.
 */
export declare function useRanker(options?: HookOptions): ModelState<Ranker>;
