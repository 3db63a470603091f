// Models in components: loaded when a component appears, disposed of when it is gone.

import { useEffect, useState } from 'react';
import { contentKey } from './contentKey.js';
import { type ModelError, toModelError } from './errors.js';
import type { LoadOptions, Progress } from './options.js';

/** How a component has a model loaded; it ends loading itself, and says how far it is. */
export type HookOptions = Omit<LoadOptions, 'signal' | 'onProgress'>;

/** A model of a component, `state` says which of the others are there. */
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

/** A model that is to be loaded in one way. */
interface Wish<M> {
  readonly key: string;
  readonly load: (options: LoadOptions) => Promise<M>;
  readonly options: HookOptions;
}

/** What became of a wish. */
interface Outcome<M> {
  readonly wish: Wish<M>;
  readonly state: ModelState<M>;
}

type Show<M> = (state: ModelState<M> | null) => void;

const LOADING = { state: 'loading', model: null, error: null, progress: null } as const;
const NOTHING: HookOptions = {};

/**
 * Loads a model with `load`, which is the same function in every call, and disposes of it when the component is gone.
 * Options with the same content are the same options; with others the model is loaded anew.
 */
export function useModel<M extends { dispose(): void }>(
  load: (options: LoadOptions) => Promise<M>,
  options: HookOptions = NOTHING,
): ModelState<M> {
  const key = contentKey(options);
  const [kept, setKept] = useState<Wish<M>>({ key, load, options });
  const [outcome, setOutcome] = useState<Outcome<M> | null>(null);
  const isKept = kept.key === key;
  // React draws again at once, before any effect: what is kept is then what is wished for.
  if (!isKept) setKept({ key, load, options });
  useEffect(
    () =>
      fulfil(kept, (state) => {
        setOutcome(state === null ? null : { wish: kept, state });
      }),
    [kept],
  );
  return isKept && outcome?.wish === kept ? outcome.state : LOADING;
}

/** Loads what is wished for and shows how that goes, until what it returns is called. */
function fulfil<M extends { dispose(): void }>(wish: Wish<M>, show: Show<M>): () => void {
  const controller = new AbortController();
  const { signal } = controller;
  let model: M | null = null;
  let progress: Progress | null = null;
  const onProgress = (found: Progress): void => {
    progress = found;
    if (!signal.aborted) show({ ...LOADING, progress });
  };
  const take = (loaded: M): void => {
    if (signal.aborted) {
      loaded.dispose();
      return;
    }
    model = loaded;
    show({ state: 'ready', model, error: null, progress });
  };
  const complain = (reason: unknown): void => {
    if (!signal.aborted) show({ state: 'error', model: null, error: toModelError(reason), progress });
  };
  wish.load({ ...wish.options, signal, onProgress }).then(take, complain);
  return () => {
    controller.abort();
    if (model === null) return;
    // A component that is only hidden keeps its state, and must not find the model there when it is shown again.
    show(null);
    model.dispose();
  };
}
