import { type ModelError } from './errors.js';
import type { LoadOptions, Progress } from './options.js';
/** Options that do not depend on who waits for the model. */
export type SharedOptions = Omit<LoadOptions, 'signal' | 'onProgress'>;
/** Ability of a model that is shared. */
export interface Disposable {
    dispose(): void;
}
export type Load<M> = (options: LoadOptions) => Promise<M>;
/** A model that is to be loaded in one way. */
export interface Wish<M> {
    /** The same for options with the same content, whatever their observers. */
    readonly key: string;
    readonly load: Load<M>;
    readonly options: SharedOptions;
}
/** How far a shared model is. */
export interface Sharing<M> {
    readonly model: M | null;
    readonly error: ModelError | null;
    /** Null until something is downloaded. */
    readonly progress: Progress | null;
}
type Watcher<M> = (found: Sharing<M>) => void;
/**
 * Calls `watch` with each state of the model that is wished for, from now on, until the function that this returns
 * is called. Who watches must not dispose of the model.
 */
export declare function share<M extends Disposable>(wish: Wish<M>, watch: Watcher<M>): () => void;
export {};
