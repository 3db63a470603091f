import type { ModelError } from './errors.js';
import type { Progress } from './options.js';
import { type Load, type SharedOptions } from './sharing.js';
/** How a component has a model loaded; it ends loading itself, and says how far it is. */
export type HookOptions = SharedOptions;
/**
 * A model of a component, `state` says which of the others are there. Other components may have the same model: none of
 * them disposes of it.
 */
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
 * Loads a model with `load`, which is the same function in every call. Options with the same content are the same options:
 * components that have them share one model, which is disposed of soon after the last of them is gone. Components with
 * an observer share it with those that have the same one.
 */
export declare function useLoaded<M extends {
    dispose(): void;
}>(load: Load<M>, options?: HookOptions): ModelState<M>;
