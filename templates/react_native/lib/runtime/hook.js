// Models in components: loaded when a component appears, disposed of when it is gone.
import { useEffect, useState } from 'react';
import { contentKey } from './contentKey.js';
import { toModelError } from './errors.js';
const LOADING = { state: 'loading', model: null, error: null, progress: null };
const NOTHING = {};
/**
 * Loads a model with `load`, which is the same function in every call, and disposes of it when the component is gone.
 * Options with the same content are the same options; with others the model is loaded anew.
 */
export function useModel(load, options = NOTHING) {
    const key = contentKey(options);
    const [kept, setKept] = useState({ key, load, options });
    const [outcome, setOutcome] = useState(null);
    const isKept = kept.key === key;
    // React draws again at once, before any effect: what is kept is then what is wished for.
    if (!isKept)
        setKept({ key, load, options });
    useEffect(() => fulfil(kept, (state) => {
        setOutcome(state === null ? null : { wish: kept, state });
    }), [kept]);
    return isKept && outcome?.wish === kept ? outcome.state : LOADING;
}
/** Loads what is wished for and shows how that goes, until what it returns is called. */
function fulfil(wish, show) {
    const controller = new AbortController();
    const { signal } = controller;
    let model = null;
    let progress = null;
    const onProgress = (found) => {
        progress = found;
        if (!signal.aborted)
            show({ ...LOADING, progress });
    };
    const take = (loaded) => {
        if (signal.aborted) {
            loaded.dispose();
            return;
        }
        model = loaded;
        show({ state: 'ready', model, error: null, progress });
    };
    const complain = (reason) => {
        if (!signal.aborted)
            show({ state: 'error', model: null, error: toModelError(reason), progress });
    };
    wish.load({ ...wish.options, signal, onProgress }).then(take, complain);
    return () => {
        controller.abort();
        if (model === null)
            return;
        // A component that is only hidden keeps its state, and must not find the model there when it is shown again.
        show(null);
        model.dispose();
    };
}
