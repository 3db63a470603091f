// Models in components: loaded when a component appears, disposed of when no component has it any more.
import { useEffect, useState } from 'react';
import { contentKey } from './contentKey.js';
import { share } from './sharing.js';
const LOADING = { state: 'loading', model: null, error: null, progress: null };
const NOTHING = {};
/**
 * Loads a model with `load`, which is the same function in every call. Options with the same content are the same options:
 * components that have them share one model, which is disposed of soon after the last of them is gone. Components with
 * an observer share it with those that have the same one.
 */
export function useLoaded(load, options = NOTHING) {
    // Not the observer: one that is made anew each time must not have the model loaded anew.
    const key = contentKey({ ...options, observer: undefined });
    const [kept, setKept] = useState({ key, load, options });
    const [outcome, setOutcome] = useState(null);
    const isKept = kept.key === key;
    // React draws again at once, before any effect: what is kept is then what is wished for.
    if (!isKept)
        setKept({ key, load, options });
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
function stateOf({ model, error, progress }) {
    if (error !== null)
        return { state: 'error', model: null, error, progress };
    if (model !== null)
        return { state: 'ready', model, error: null, progress };
    return { ...LOADING, progress };
}
