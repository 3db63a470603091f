// What a model carries from one call to the next.
import { copied } from '../copying.js';
import { ModelError } from '../errors.js';
/** Runs a model in turn, each time with the state that the call before it left. */
export class Carried {
    first;
    next;
    /** State that the last call left that has ended. */
    state;
    /** States that the calls leave that are under way; null when there are none. */
    pending = null;
    /** `first` makes the state of a first call, `next` that of a call after another. */
    constructor(first, next) {
        this.first = first;
        this.next = next;
        this.state = first();
    }
    /** Runs a model after the calls that are under way. One that fails leaves the state as it was. */
    async run(run, given) {
        const { state, pending } = this;
        const running = pending === null ? run({ ...given, ...state }) : runAfter(pending, run, copied(given));
        const after = running.then(this.next, () => pending ?? state);
        this.pending = after;
        const left = await after;
        // Unless another call or a new start came meanwhile.
        if (this.pending === after) {
            this.state = left;
            this.pending = null;
        }
        return running;
    }
    /** @throws ModelError `unsupported` while a call is under way: this one would have to wait for it */
    runSync(run, given) {
        if (this.pending !== null) {
            throw new ModelError('unsupported', 'a call that is under way comes first, and a call at once cannot wait for it');
        }
        const outputs = run({ ...given, ...this.state });
        this.state = this.next(outputs);
        return outputs;
    }
    /** Resets the state: the next call is a first one. */
    reset() {
        this.state = this.first();
        this.pending = null;
    }
}
async function runAfter(before, run, given) {
    const state = await before;
    return run({ ...given, ...state });
}
