// A sound that comes piece by piece, and the results for its hops.
import { ITERATOR } from '../frames.js';
import { ModelError } from '../errors.js';
import { soundTensors } from './sound.js';
const END = { done: true, value: undefined };
/** A stream; `begin` makes the runs of a new sound. */
export function streamOf(form, options, begin) {
    return new Listening(form, options, begin);
}
class Listening {
    form;
    queueMs;
    drops;
    begin;
    /** Runs of the sound that is heard. */
    step;
    pace = null;
    samples = new Float32Array(0);
    /** Frames of the sound: the first and the last one that are kept, and the first one of the next hop. */
    kept = 0;
    end = 0;
    start = 0;
    /** Time from that frame to the hop, in parts of a frame. */
    rest = 0;
    /** Samples of the model before the sound that the next run takes. */
    ahead = 0;
    dropped = 0;
    isFlushed = false;
    isClosed = false;
    wake = () => undefined;
    last = Promise.resolve();
    constructor(form, { queueMs = 10_000, overflow = 'refuse' }, begin) {
        if (!Number.isSafeInteger(queueMs) || queueMs < 1) {
            throw new ModelError('bad-options', `queueMs is ${String(queueMs)}, which is no whole number from 1 on`);
        }
        this.form = form;
        this.queueMs = queueMs;
        this.drops = overflow === 'drop-oldest';
        this.begin = begin;
        this.step = begin();
        this.startAt(0);
    }
    get results() {
        const controller = new AbortController();
        const results = {
            next: () => {
                const result = this.last.then(() => this.next(controller));
                this.last = result.catch(() => undefined);
                return result;
            },
            return: () => {
                controller.abort();
                this.wake();
                return Promise.resolve(END);
            },
            [ITERATOR]: () => results,
        }; // the compiler knows no other name than the symbol
        return results;
    }
    push(sound) {
        if (this.isClosed)
            throw new ModelError('disposed', 'the stream is closed');
        if (this.isFlushed)
            throw new ModelError('bad-input', 'the stream was flushed: `reset` starts a new sound');
        const { data, shape } = soundTensors('stream', sound).samples;
        const wrong = data.findIndex((sample) => !Number.isFinite(sample));
        if (wrong >= 0) {
            throw new ModelError('bad-input', `sample ${String(wrong)} is ${String(data[wrong])}, which is no finite number`);
        }
        const [frames, channels] = shape;
        const pace = this.paceOf(sound.rate, channels);
        const excess = this.end + frames - this.start - pace.limit;
        if (excess > 0 && !this.drops) {
            throw new ModelError('busy', `no room for ${String(frames)} frames: the queue of ${String(this.queueMs)} ms is full`);
        }
        this.pace = pace;
        this.append(data, channels);
        this.end += frames;
        if (excess > 0)
            this.drop(excess);
        this.wake();
    }
    flush() {
        this.isFlushed = true;
        this.wake();
    }
    reset() {
        this.pace = null;
        this.samples = new Float32Array(0);
        [this.kept, this.end, this.dropped] = [0, 0, 0];
        this.isFlushed = false;
        this.step = this.begin();
        this.startAt(0);
        this.wake();
    }
    close() {
        this.reset();
        this.isClosed = true;
    }
    async next(controller) {
        while (!this.isLeft(controller)) {
            const { step } = this;
            const taken = this.take();
            if (taken === null && this.isFlushed)
                return END;
            if (taken === null) {
                await new Promise((resolve) => (this.wake = resolve));
                continue;
            }
            try {
                const result = await step(taken.piece, controller.signal);
                // Unless another sound began meanwhile.
                if (step === this.step)
                    return { done: false, value: this.heard(result, taken) };
            }
            catch (error) {
                if (step === this.step && !this.isLeft(controller))
                    throw error;
            }
        }
        return END;
    }
    isLeft({ signal }) {
        return this.isClosed || signal.aborted;
    }
    /** The next run, if its sound has come; null otherwise. */
    take() {
        const { pace, form, start, rest, end } = this;
        if (pace === null)
            return null;
        const { source, target, width, channels, rate } = pace;
        const { first, late } = this.window(pace);
        if (first + width > end && !(this.isFlushed && start < end))
            return null;
        const samples = new Float32Array(width * channels);
        const inside = this.samples.subarray(Math.max(first - this.kept, 0) * channels, Math.max(Math.min(first + width, end) - this.kept, 0) * channels);
        samples.set(inside, Math.max(this.kept - first, 0) * channels);
        const left = Math.ceil(((end - start) * target - rest) / source);
        const place = [late, this.ahead, Math.max(form.hop - left, 0)];
        const after = rest + form.hop * source;
        const hop = Math.floor(after / target);
        return { piece: { samples, rate, channels, place }, next: start + hop, rest: after - hop * target };
    }
    /** The first frame of the next run, and the time from it to the first sample of the model. */
    window({ source, target, reach }) {
        const time = this.rest - (this.form.length - this.form.hop) * source;
        const before = Math.floor(time / target) - reach;
        return { first: this.start + before, late: time - before * target };
    }
    /** Goes on to the next hop. */
    heard(result, { next, rest }) {
        const { start, dropped, end } = this;
        this.ahead = Math.max(this.ahead - this.form.hop, 0);
        [this.start, this.rest, this.dropped] = [next, rest, 0];
        return { result, start, end: Math.min(next, end), dropped };
    }
    /** Leaves out the frames that wait longest: what follows is a new sound. */
    drop(frames) {
        this.dropped += frames;
        this.step = this.begin();
        this.startAt(this.start + frames);
        this.samples = this.samples.slice((this.start - this.kept) * (this.pace?.channels ?? 1));
        this.kept = this.start;
    }
    startAt(start) {
        [this.start, this.rest, this.ahead] = [start, 0, this.form.length - this.form.hop];
    }
    /** Adds samples behind those that a later run takes. */
    append(data, channels) {
        if (this.pace === null)
            return;
        const first = Math.min(Math.max(this.window(this.pace).first, this.kept), this.end);
        const used = (this.end - this.kept) * channels;
        const old = (first - this.kept) * channels;
        if (used + data.length > this.samples.length) {
            const samples = new Float32Array(2 * (used - old + data.length));
            samples.set(this.samples.subarray(old, used));
            this.samples = samples;
            this.kept = first;
        }
        this.samples.set(data, (this.end - this.kept) * channels);
    }
    paceOf(rate, channels) {
        if (this.pace !== null) {
            if (rate === this.pace.rate && channels === this.pace.channels)
                return this.pace;
            const [now, before] = [describe(rate, channels), describe(this.pace.rate, this.pace.channels)];
            throw new ModelError('bad-input', `the sound has ${now}, and the stream began with ${before}: \`reset\` it first`);
        }
        const common = commonDivisor(rate, this.form.rate);
        const [source, target] = [rate / common, this.form.rate / common];
        const reach = source === target ? 0 : Math.ceil((600 * source) / (99 * Math.min(source, target)));
        const width = Math.ceil(((this.form.length - 1) * source) / target) + 2 * reach + 1;
        const limit = Math.floor((this.queueMs * rate) / 1000);
        if (limit < width) {
            const needed = Math.ceil((1000 * width) / rate);
            throw new ModelError('bad-options', `queueMs is ${String(this.queueMs)}, and a run takes ${String(needed)} ms of sound`);
        }
        return { rate, channels, source, target, reach, width, limit };
    }
}
function describe(rate, channels) {
    return `${String(rate)} frames per second of ${String(channels)} channel${channels === 1 ? '' : 's'}`;
}
function commonDivisor(one, other) {
    return other === 0 ? one : commonDivisor(other, one % other);
}
