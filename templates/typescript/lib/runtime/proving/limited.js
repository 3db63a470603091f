// The clock of a proof: opening and running are given up when its time is over.
import { replaced } from '../backend.js';
import { ModelError } from '../errors.js';
import { now } from '../observing.js';
import { abortable } from '../permitting.js';
/** The time of a proof is over. */
export class Over extends ModelError {
    constructor() {
        super('cancelled', 'the time of the proof is over');
    }
}
/** A backend whose models are opened and run as long as time is left. Downloads take none of it. */
export class Limited {
    /** Seconds. */
    left;
    /** Seconds of the last run, or of waiting for it. */
    duration = 0;
    inner;
    signal;
    constructor(inner, seconds, signal) {
        this.inner = inner;
        this.left = seconds;
        this.signal = signal;
    }
    /** Calls `begin` before a model is opened. */
    backend(begin) {
        const { inner } = this;
        return replaced(inner, {
            open: async (request, model) => {
                await begin();
                const late = ({ session }) => {
                    inner.close(session);
                };
                return this.spend(() => inner.open(request, model), late);
            },
            run: async (session, call, buffers, layout, texts) => {
                const late = ({ kept }) => {
                    inner.drop(kept);
                };
                try {
                    const ran = await this.spend(() => inner.run(session, call, buffers, layout, texts, true), late);
                    this.duration = ran.duration;
                    return ran;
                }
                catch (reason) {
                    inner.cancel(call);
                    throw reason;
                }
            },
        });
    }
    /** Calls `late` with a value that comes too late. */
    async spend(start, late) {
        this.duration = 0;
        if (this.left <= 0)
            throw new Over();
        const started = now();
        const working = start();
        let timer;
        const over = new Promise((_, reject) => {
            timer = setTimeout(() => {
                reject(new Over());
            }, this.left * 1000);
        });
        try {
            return await abortable(Promise.race([working, over]), this.signal);
        }
        catch (reason) {
            working.then(late, () => undefined);
            throw reason;
        }
        finally {
            clearTimeout(timer);
            this.duration = now() - started;
            this.left -= this.duration;
        }
    }
}
