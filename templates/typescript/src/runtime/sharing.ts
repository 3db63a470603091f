// Models that several components share: loaded once for the same options, disposed of when the last component is gone.

import { identityOf } from './contentKey.js';
import { type ModelError, toModelError } from './errors.js';
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

/** How long a model without users is kept: a component of the next screen may want it. */
const GRACE_MS = 1000;

/** By the function that loads them, then by their options. */
const shared = new WeakMap<Load<Disposable>, Map<string, Shared<Disposable>>>();

/**
 * Calls `watch` with each state of the model that is wished for, from now on, until the function that this returns
 * is called. Who watches must not dispose of the model.
 */
export function share<M extends Disposable>(wish: Wish<M>, watch: Watcher<M>): () => void {
  const { load, options } = wish;
  const key = options.observer === undefined ? wish.key : `${wish.key} ${String(identityOf(options.observer))}`;
  const models = modelsOf(load);
  let found = models.get(key);
  if (found === undefined) {
    // The memory of a model that nobody uses any more may be needed for this one.
    for (const other of models.values()) other.endIfUnused();
    found = new Shared(load, options, (ended) => {
      // A later one may have its key by now.
      if (models.get(key) === ended) models.delete(key);
    });
    models.set(key, found);
  }
  return found.add(watch);
}

function modelsOf<M extends Disposable>(load: Load<M>): Map<string, Shared<M>> {
  const known = shared.get(load) ?? new Map<string, Shared<Disposable>>();
  shared.set(load, known);
  return known as unknown as Map<string, Shared<M>>; // `load` is the key, and loads nothing else
}

/** A model, its loading, and those who wait for it or use it. */
class Shared<M extends Disposable> {
  private readonly watchers = new Set<Watcher<M>>();
  private readonly controller = new AbortController();
  private readonly forget: (ended: Shared<M>) => void;
  private state: Sharing<M> = { model: null, error: null, progress: null };
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(load: Load<M>, options: SharedOptions, forget: (ended: Shared<M>) => void) {
    this.forget = forget;
    const { signal } = this.controller;
    const onProgress = (progress: Progress): void => {
      this.show({ ...this.state, progress });
    };
    load({ ...options, signal, onProgress }).then(
      (model) => {
        this.take(model);
      },
      (reason: unknown) => {
        this.fail(toModelError(reason));
      },
    );
  }

  add(watch: Watcher<M>): () => void {
    clearTimeout(this.timer);
    this.watchers.add(watch);
    watch(this.state);
    return () => {
      this.watchers.delete(watch);
      if (this.watchers.size > 0) return;
      this.timer = setTimeout(() => {
        this.endIfUnused();
      }, GRACE_MS);
    };
  }

  endIfUnused(): void {
    if (this.watchers.size > 0) return;
    clearTimeout(this.timer);
    this.forget(this);
    this.controller.abort();
    this.state.model?.dispose();
  }

  private take(model: M): void {
    if (this.controller.signal.aborted) model.dispose();
    else this.show({ ...this.state, model });
  }

  /** Who asks for it later tries again. */
  private fail(error: ModelError): void {
    this.forget(this);
    this.show({ ...this.state, error });
  }

  private show(state: Sharing<M>): void {
    this.state = state;
    for (const watch of [...this.watchers]) watch(state);
  }
}
