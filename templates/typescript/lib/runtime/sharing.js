// Models that several components share: loaded once for the same options, disposed of when the last component is gone.
import { identityOf } from './contentKey.js';
import { toModelError } from './errors.js';
/** How long a model without users is kept: a component of the next screen may want it. */
const GRACE_MS = 1000;
/** By the function that loads them, then by their options. */
const shared = new WeakMap();
/**
 * Calls `watch` with each state of the model that is wished for, from now on, until the function that this returns
 * is called. Who watches must not dispose of the model.
 */
export function share(wish, watch) {
    const { load, options } = wish;
    const key = options.observer === undefined ? wish.key : `${wish.key} ${String(identityOf(options.observer))}`;
    const models = modelsOf(load);
    let found = models.get(key);
    if (found === undefined) {
        // The memory of a model that nobody uses any more may be needed for this one.
        for (const other of models.values())
            other.endIfUnused();
        found = new Shared(load, options, (ended) => {
            // A later one may have its key by now.
            if (models.get(key) === ended)
                models.delete(key);
        });
        models.set(key, found);
    }
    return found.add(watch);
}
function modelsOf(load) {
    const known = shared.get(load) ?? new Map();
    shared.set(load, known);
    return known; // `load` is the key, and loads nothing else
}
/** A model, its loading, and those who wait for it or use it. */
class Shared {
    watchers = new Set();
    controller = new AbortController();
    forget;
    state = { model: null, error: null, progress: null };
    timer;
    constructor(load, options, forget) {
        this.forget = forget;
        const { signal } = this.controller;
        const onProgress = (progress) => {
            this.show({ ...this.state, progress });
        };
        load({ ...options, signal, onProgress }).then((model) => {
            this.take(model);
        }, (reason) => {
            this.fail(toModelError(reason));
        });
    }
    add(watch) {
        clearTimeout(this.timer);
        this.watchers.add(watch);
        watch(this.state);
        return () => {
            this.watchers.delete(watch);
            if (this.watchers.size > 0)
                return;
            this.timer = setTimeout(() => {
                this.endIfUnused();
            }, GRACE_MS);
        };
    }
    endIfUnused() {
        if (this.watchers.size > 0)
            return;
        clearTimeout(this.timer);
        this.forget(this);
        this.controller.abort();
        this.state.model?.dispose();
    }
    take(model) {
        if (this.controller.signal.aborted)
            model.dispose();
        else
            this.show({ ...this.state, model });
    }
    /** Who asks for it later tries again. */
    fail(error) {
        this.forget(this);
        this.show({ ...this.state, error });
    }
    show(state) {
        this.state = state;
        for (const watch of [...this.watchers])
            watch(state);
    }
}
