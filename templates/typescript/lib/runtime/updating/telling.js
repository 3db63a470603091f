// The states of an updater, and who is told of them.
import { tell } from '../observing.js';
import { storedModel } from './state.js';
/** States of all models of a package. */
export class Telling {
    /** The latest ones. */
    states;
    version;
    listeners = new Set();
    /** `version` is that of the package. */
    constructor(models, version) {
        const state = { phase: 'unchecked', version, loadedBytes: 0, totalBytes: 0, reason: '' };
        this.version = version;
        this.states = Object.fromEntries(models.map(({ name }) => [name, state]));
    }
    subscribe(listener) {
        this.listeners.add(listener);
        return () => {
            this.listeners.delete(listener);
        };
    }
    /** Shows which versions the next loads open. */
    showVersions(state) {
        for (const name of Object.keys(this.states)) {
            const { active } = storedModel(state, name);
            this.tell(name, { version: active?.version ?? this.version });
        }
    }
    tellAll(change) {
        for (const name of Object.keys(this.states))
            this.tell(name, change);
    }
    tell(name, change) {
        const before = this.states[name];
        if (before === undefined || Object.entries(change).every(([key, value]) => before[key] === value))
            return;
        this.states = { ...this.states, [name]: { ...before, ...change } };
        const { states } = this;
        for (const listener of this.listeners) {
            tell(() => {
                listener(states);
            });
        }
    }
}
