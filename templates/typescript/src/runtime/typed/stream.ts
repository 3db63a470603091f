// A sound that comes piece by piece, and the results for its hops.

import { ITERATOR } from '../frames.js';
import { ModelError } from '../errors.js';
import { soundTensors, type Sound, type SoundPiece } from './sound.js';

/** Options of a stream. */
export interface StreamOptions {
  /** Milliseconds of sound that may wait for results: 10000 by default. */
  readonly queueMs?: number;
  /** Treatment of a push that has no room: it is refused, by default, or the sound that waits longest is dropped. */
  readonly overflow?: 'refuse' | 'drop-oldest';
}

/** The result for a part of a stream. Numbers are frames since the stream began, at the rate of the sound. */
export interface Heard<Result> {
  readonly result: Result;
  /** First frame. */
  readonly start: number;
  /** Frame after the last one. */
  readonly end: number;
  /** How many frames before `start` have no result, because the queue was full. A new sound begins after them. */
  readonly dropped: number;
}

/** Results, for `for await` or `next`. Leaving the loop, or `return`, ends the run that is under way. */
export interface StreamResults<Result> extends AsyncIterable<Heard<Result>> {
  next(): Promise<IteratorResult<Heard<Result>, undefined>>;
  return(): Promise<IteratorResult<Heard<Result>, undefined>>;
}

/**
 * A sound that an app pushes piece by piece. The results depend on the sound alone, however it is cut.
 *
 * The model runs when a result is asked for: what has no result yet waits in a queue.
 */
export interface SoundStream<Result> {
  /** The results that nobody has read, in order. They end after `flush` and after `close`. */
  readonly results: StreamResults<Result>;
  /**
   * Adds what follows.
   *
   * @throws ModelError `bad-input` for samples that are no numbers, another rate or number of channels than before, and
   * after `flush`; `busy` where the queue has no room; `disposed` after `close`
   */
  push(sound: Sound): void;
  /** Ends the sound: the rest gets its results. */
  flush(): void;
  /** Starts a new sound: forgets what was pushed. */
  reset(): void;
  /** Ends the results. The model stays open. */
  close(): void;
}

/** Samples of a run at the model's rate. */
interface Form {
  readonly rate: number;
  readonly hop: number;
  /** Samples of the hop, and those before it. */
  readonly length: number;
}

/** Runs a model with the state that the run before left. */
type Step<Result> = (piece: SoundPiece, signal: AbortSignal) => Promise<Result>;

/** Rates in lowest terms, and frames of the sound that a run takes. */
interface Pace {
  readonly rate: number;
  readonly channels: number;
  readonly source: number;
  readonly target: number;
  /** Frames on either side that contribute to a sample. */
  readonly reach: number;
  readonly width: number;
  /** Frames that may wait. */
  readonly limit: number;
}

/** A run's part of the sound, and where the next hop begins. */
interface Taken {
  readonly piece: SoundPiece;
  readonly next: number;
  readonly rest: number;
}

const END = { done: true, value: undefined } as const;

/** A stream; `begin` makes the runs of a new sound. */
export function streamOf<Result>(form: Form, options: StreamOptions, begin: () => Step<Result>): SoundStream<Result> {
  return new Listening(form, options, begin);
}

class Listening<Result> implements SoundStream<Result> {
  private readonly form: Form;
  private readonly queueMs: number;
  private readonly drops: boolean;
  private readonly begin: () => Step<Result>;
  /** Runs of the sound that is heard. */
  private step: Step<Result>;
  private pace: Pace | null = null;
  private samples: Float32Array = new Float32Array(0);
  /** Frames of the sound: the first and the last one that are kept, and the first one of the next hop. */
  private kept = 0;
  private end = 0;
  private start = 0;
  /** Time from that frame to the hop, in parts of a frame. */
  private rest = 0;
  /** Samples of the model before the sound that the next run takes. */
  private ahead = 0;
  private dropped = 0;
  private isFlushed = false;
  private isClosed = false;
  private wake: () => void = () => undefined;
  private last: Promise<unknown> = Promise.resolve();

  constructor(form: Form, { queueMs = 10_000, overflow = 'refuse' }: StreamOptions, begin: () => Step<Result>) {
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

  get results(): StreamResults<Result> {
    const controller = new AbortController();
    const results: StreamResults<Result> = {
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
    } as unknown as StreamResults<Result>; // the compiler knows no other name than the symbol
    return results;
  }

  push(sound: Sound): void {
    if (this.isClosed) throw new ModelError('disposed', 'the stream is closed');
    if (this.isFlushed) throw new ModelError('bad-input', 'the stream was flushed: `reset` starts a new sound');
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
    if (excess > 0) this.drop(excess);
    this.wake();
  }

  flush(): void {
    this.isFlushed = true;
    this.wake();
  }

  reset(): void {
    this.pace = null;
    this.samples = new Float32Array(0);
    [this.kept, this.end, this.dropped] = [0, 0, 0];
    this.isFlushed = false;
    this.step = this.begin();
    this.startAt(0);
    this.wake();
  }

  close(): void {
    this.reset();
    this.isClosed = true;
  }

  private async next(controller: AbortController): Promise<IteratorResult<Heard<Result>, undefined>> {
    while (!this.isLeft(controller)) {
      const { step } = this;
      const taken = this.take();
      if (taken === null && this.isFlushed) return END;
      if (taken === null) {
        await new Promise<void>((resolve) => (this.wake = resolve));
        continue;
      }
      try {
        const result = await step(taken.piece, controller.signal);
        // Unless another sound began meanwhile.
        if (step === this.step) return { done: false, value: this.heard(result, taken) };
      } catch (error) {
        if (step === this.step && !this.isLeft(controller)) throw error;
      }
    }
    return END;
  }

  private isLeft({ signal }: AbortController): boolean {
    return this.isClosed || signal.aborted;
  }

  /** The next run, if its sound has come; null otherwise. */
  private take(): Taken | null {
    const { pace, form, start, rest, end } = this;
    if (pace === null) return null;
    const { source, target, width, channels, rate } = pace;
    const { first, late } = this.window(pace);
    if (first + width > end && !(this.isFlushed && start < end)) return null;
    const samples = new Float32Array(width * channels);
    const inside = this.samples.subarray(
      Math.max(first - this.kept, 0) * channels,
      Math.max(Math.min(first + width, end) - this.kept, 0) * channels,
    );
    samples.set(inside, Math.max(this.kept - first, 0) * channels);
    const left = Math.ceil(((end - start) * target - rest) / source);
    const place = [late, this.ahead, Math.max(form.hop - left, 0)] as const;
    const after = rest + form.hop * source;
    const hop = Math.floor(after / target);
    return { piece: { samples, rate, channels, place }, next: start + hop, rest: after - hop * target };
  }

  /** The first frame of the next run, and the time from it to the first sample of the model. */
  private window({ source, target, reach }: Pace): { readonly first: number; readonly late: number } {
    const time = this.rest - (this.form.length - this.form.hop) * source;
    const before = Math.floor(time / target) - reach;
    return { first: this.start + before, late: time - before * target };
  }

  /** Goes on to the next hop. */
  private heard(result: Result, { next, rest }: Taken): Heard<Result> {
    const { start, dropped, end } = this;
    this.ahead = Math.max(this.ahead - this.form.hop, 0);
    [this.start, this.rest, this.dropped] = [next, rest, 0];
    return { result, start, end: Math.min(next, end), dropped };
  }

  /** Leaves out the frames that wait longest: what follows is a new sound. */
  private drop(frames: number): void {
    this.dropped += frames;
    this.step = this.begin();
    this.startAt(this.start + frames);
    this.samples = this.samples.slice((this.start - this.kept) * (this.pace?.channels ?? 1));
    this.kept = this.start;
  }

  private startAt(start: number): void {
    [this.start, this.rest, this.ahead] = [start, 0, this.form.length - this.form.hop];
  }

  /** Adds samples behind those that a later run takes. */
  private append(data: Float32Array, channels: number): void {
    if (this.pace === null) return;
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

  private paceOf(rate: number, channels: number): Pace {
    if (this.pace !== null) {
      if (rate === this.pace.rate && channels === this.pace.channels) return this.pace;
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

function describe(rate: number, channels: number): string {
  return `${String(rate)} frames per second of ${String(channels)} channel${channels === 1 ? '' : 's'}`;
}

function commonDivisor(one: number, other: number): number {
  return other === 0 ? one : commonDivisor(other, one % other);
}
