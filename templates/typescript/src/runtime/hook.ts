// Models in components: loaded when a component appears, disposed of when no component has it any more.

import { useEffect, useState } from 'react';
import { contentKey } from './contentKey.js';
import type { ModelError } from './errors.js';
import type { Progress } from './options.js';
import { share, type Load, type SharedOptions, type Sharing, type Wish } from './sharing.js';

/** How a component has a model loaded; it ends loading itself, and says how far it is. */
export type HookOptions = SharedOptions;

/**
 * A model of a component, `state` says which of the others are there. Other components may have the same model: none of
 * them disposes of it.
 */
export type ModelState<M> =
  | {
      readonly state: 'loading';
      readonly model: null;
      readonly error: null;
      /** Null until something is downloaded. */
      readonly progress: Progress | null;
    }
  | { readonly state: 'ready'; readonly model: M; readonly error: null; readonly progress: Progress | null }
  | { readonly state: 'error'; readonly model: null; readonly error: ModelError; readonly progress: Progress | null };

/** Result of a wish. */
interface Outcome<M> {
  readonly wish: Wish<M>;
  readonly state: ModelState<M>;
}

const LOADING = { state: 'loading', model: null, error: null, progress: null } as const;
const NOTHING: HookOptions = {};

/**
 * Loads a model with `load`, which is the same function in every call. Options with the same content are the same options:
 * components that have them share one model, which is disposed of soon after the last of them is gone. Components with
 * an observer share it with those that have the same one.
 */
export function useLoaded<M extends { dispose(): void }>(
  load: Load<M>,
  options: HookOptions = NOTHING,
): ModelState<M> {
  // Not the observer: one that is made anew each time must not have the model loaded anew.
  const key = contentKey({ ...options, observer: undefined });
  const [kept, setKept] = useState<Wish<M>>({ key, load, options });
  const [outcome, setOutcome] = useState<Outcome<M> | null>(null);
  const isKept = kept.key === key;
  // React draws again at once, before any effect: what is kept is then what is wished for.
  if (!isKept) setKept({ key, load, options });
  useEffect(() => {
    const release = share(kept, (found) => {
      setOutcome({ wish: kept, state: stateOf(found) });
    });
    return () => {
      release();
      // A component that is only hidden keeps its state, and must not find the model there when it is shown again.
      setOutcome(null);
    };
  }, [kept]);
  return isKept && outcome?.wish === kept ? outcome.state : LOADING;
}

function stateOf<M>({ model, error, progress }: Sharing<M>): ModelState<M> {
  if (error !== null) return { state: 'error', model: null, error, progress };
  if (model !== null) return { state: 'ready', model, error: null, progress };
  return { ...LOADING, progress };
}
