// Results for the latest frame of a camera, a microphone or another source.
/** Where an engine lacks the symbol, `for await` as Babel compiles it looks for a name. */
export const ITERATOR = nameOfIterator();
const END = { done: true, value: undefined };
function nameOfIterator() {
    const known = Symbol.asyncIterator;
    return known ?? '@@asyncIterator';
}
/**
 * Results of `call` for the frames of `source`, in order, one call at a time. Of frames that come meanwhile all but the
 * last are dropped. It ends with its source, or with the first error.
 */
export function latestOf(source, call) {
    const latest = new Latest(iteratorOf(source), call);
    const frames = {
        next: () => latest.next(),
        return: () => latest.return(),
        [ITERATOR]: () => frames,
    }; // the compiler knows no other name than the symbol
    return frames;
}
function iteratorOf(source) {
    const iterable = source;
    return iterable[ITERATOR]?.() ?? source;
}
/** Reads a source without end, and keeps one frame. */
class Latest {
    source;
    call;
    controller = new AbortController();
    reading = null;
    kept = null;
    failure = null;
    /** Whether no frame comes any more. */
    isEnded = false;
    wake = () => undefined;
    last = Promise.resolve();
    constructor(source, call) {
        this.source = source;
        this.call = call;
    }
    /** Calls take turns. */
    next() {
        const result = this.last.then(() => this.step());
        this.last = result.catch(() => undefined);
        return result;
    }
    return() {
        this.stop();
        return Promise.resolve(END);
    }
    async step() {
        this.reading ??= this.read();
        const frame = await this.take();
        if (frame === null)
            return END;
        try {
            return { done: false, value: await this.call(frame[0], this.controller.signal) };
        }
        catch (error) {
            if (this.controller.signal.aborted)
                return END;
            this.stop();
            throw error;
        }
    }
    /** The frame that is kept, or the next one; null after the last. */
    async take() {
        while (this.kept === null && !this.isEnded) {
            await new Promise((resolve) => (this.wake = resolve));
        }
        const { kept, failure } = this;
        this.kept = null;
        if (kept !== null || failure === null)
            return kept;
        this.failure = null;
        throw failure[0];
    }
    async read() {
        try {
            for (let item = await this.source.next(); item.done !== true; item = await this.source.next()) {
                if (this.isEnded)
                    return;
                this.kept = [item.value];
                this.wake();
            }
        }
        catch (error) {
            this.failure = [error];
        }
        this.isEnded = true;
        this.wake();
    }
    stop() {
        this.controller.abort();
        this.kept = null;
        if (this.isEnded)
            return;
        this.isEnded = true;
        this.wake();
        void this.close();
    }
    /** Nobody waits for the source's end: one that has no frame may not end before the next. */
    async close() {
        try {
            await this.source.return?.();
        }
        catch (error) {
            console.error(error);
        }
    }
}
