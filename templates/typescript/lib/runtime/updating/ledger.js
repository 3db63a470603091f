// Keeps an updater's state: every change is durable before anything follows from it.
import { emptyState, readState, storedModel, withModel, writeState } from './state.js';
import { pauseMs } from './waiting.js';
const NAME = 'state.json';
const DAMAGED = 'state.damaged.json';
/** Reads and changes the state, which other processes may do, too. */
export class Ledger {
    platform;
    constructor(platform) {
        this.platform = platform;
    }
    read() {
        return this.platform.alone('state', () => this.current());
    }
    /** Writes what `change` makes of the state, and gives it. */
    change(change) {
        return this.platform.alone('state', async () => {
            const before = await this.current();
            const after = change(before);
            if (after !== before)
                await this.platform.writeText(NAME, writeState(after));
            return after;
        });
    }
    changeModel(name, change) {
        return this.change((state) => withModel(state, name, change(storedModel(state, name))));
    }
    /** Remembers a failure: the next attempt is later. */
    async countFailure() {
        await this.change((state) => {
            const failures = state.failures + 1;
            return { ...state, failures, notBefore: Math.ceil(Date.now() + pauseMs(failures)) };
        });
    }
    async forgetFailures() {
        await this.change((state) => (state.failures === 0 && state.notBefore === 0 ? state : { ...state, failures: 0, notBefore: 0 }));
    }
    /** A damaged one is moved aside: everything begins anew, but for the metadata that was seen. */
    async current() {
        const text = await this.platform.readText(NAME);
        if (text !== null) {
            try {
                return readState(text);
            }
            catch {
                await this.platform.writeText(DAMAGED, text);
            }
        }
        const made = emptyState(this.platform.randomId());
        await this.platform.writeText(NAME, writeState(made));
        return made;
    }
}
