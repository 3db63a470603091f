// A text that a model makes, part by part.
import { ITERATOR } from '../frames.js';
import { ModelError } from '../errors.js';
const END = { done: true, value: undefined };
/** The text that `run` makes from the state `first` on, a run at a time, when a part is asked for. */
export function generated(first, signal, run) {
    const made = new Generation(first, signal, run);
    const text = {
        next: () => made.next(),
        return: () => made.return(),
        [ITERATOR]: () => text,
    }; // the compiler knows no other name than the symbol
    return text;
}
/** The text of code points. */
export function textOf(points) {
    return String.fromCodePoint(...points);
}
/**
 * A seed, as models take it.
 *
 * @throws ModelError `bad-options` for what is no whole number
 */
export function seedTensor({ seed = 0 }) {
    if (typeof seed === 'bigint' || Number.isSafeInteger(seed))
        return BigInt64Array.of(BigInt(seed));
    throw new ModelError('bad-options', `seed is ${String(seed)}, which is no whole number`);
}
/** A text that is being made. */
class Generation {
    /** State that the next run starts with; null after the last one, and after one that failed. */
    state;
    run;
    controller = new AbortController();
    signal;
    abort = () => {
        this.controller.abort();
    };
    isFirst = true;
    isLeft = false;
    last = Promise.resolve();
    constructor(first, signal, run) {
        this.state = first;
        this.run = run;
        this.signal = signal;
        if (signal?.aborted === true)
            this.abort();
        signal?.addEventListener('abort', this.abort);
    }
    /** Calls take turns. */
    next() {
        const result = this.last.then(() => this.step());
        this.last = result.catch(() => undefined);
        return result;
    }
    return() {
        this.isLeft = true;
        this.end();
        this.abort();
        return Promise.resolve(END);
    }
    /** The next part that is not empty. */
    async step() {
        while (this.state !== null) {
            const { state } = this;
            this.state = null;
            const part = await this.ran(state);
            if (part === null)
                break;
            this.state = part.state;
            if (part.text.length > 0)
                return { done: false, value: part.text };
        }
        this.end();
        return END;
    }
    /** Part that a run adds; null when nobody wants it any more. */
    async ran(state) {
        try {
            const part = await this.run(state, this.isFirst, this.controller.signal);
            this.isFirst = false;
            return this.isLeft ? null : part;
        }
        catch (error) {
            if (this.isLeft)
                return null;
            this.end();
            throw error;
        }
    }
    end() {
        this.state = null;
        this.signal?.removeEventListener('abort', this.abort);
    }
}
