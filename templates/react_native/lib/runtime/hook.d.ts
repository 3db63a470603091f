import { type ModelError } from './errors.js';
import type { LoadOptions, Progress } from './options.js';
/** How a component has a model loaded; it ends loading itself, and says how far it is. */
export type HookOptions = Omit<LoadOptions, 'signal' | 'onProgress'>;
/** A model of a component, `state` says which of the others are there. */
export type ModelState<M> = {
    readonly state: 'loading';
    readonly model: null;
    readonly error: null;
    /** Null until something is downloaded. */
    readonly progress: Progress | null;
} | {
    readonly state: 'ready';
    readonly model: M;
    readonly error: null;
    readonly progress: Progress | null;
} | {
    readonly state: 'error';
    readonly model: null;
    readonly error: ModelError;
    readonly progress: Progress | null;
};
/**
 * Loads a model with `load`, which is the same function in every call, and disposes of it when the component is gone.
 * Options with the same content are the same options; with others the model is loaded anew.
 */
export declare function useModel<M extends {
    dispose(): void;
}>(load: (options: LoadOptions) => Promise<M>, options?: HookOptions): ModelState<M>;
