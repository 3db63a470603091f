// A text that a model makes, part by part.

import { ITERATOR } from '../frames.js';
import { ModelError } from '../errors.js';
import type { CallOptions } from './options.js';

/** The parts of a text, for `for await` or `next`. Leaving the loop, or `return`, ends the run that is under way. */
export interface GeneratedText extends AsyncIterable<string> {
  next(): Promise<IteratorResult<string, undefined>>;
  return(): Promise<IteratorResult<string, undefined>>;
}

/** Options of `generate` where a model chooses at random. */
export interface SeedOptions extends CallOptions {
  /** Decides what is chosen: the same whole number gives the same text. 0 when it is left out. */
  readonly seed?: number | bigint;
}

/** Part that one run adds to a text. */
interface TextPart<State> {
  readonly text: string;
  /** State that the next run starts with; null after the last one. */
  readonly state: State | null;
}

/** Runs a model once: `isFirst` with what the app passed. */
type TextRun<State> = (state: State, isFirst: boolean, signal: AbortSignal) => Promise<TextPart<State>>;

const END = { done: true, value: undefined } as const;

/** The text that `run` makes from the state `first` on, a run at a time, when a part is asked for. */
export function generated<State>(first: State, signal: AbortSignal | undefined, run: TextRun<State>): GeneratedText {
  const made = new Generation(first, signal, run);
  const text: GeneratedText = {
    next: () => made.next(),
    return: () => made.return(),
    [ITERATOR]: () => text,
  } as unknown as GeneratedText; // the compiler knows no other name than the symbol
  return text;
}

/** The text of code points. */
export function textOf(points: Int32Array): string {
  return String.fromCodePoint(...points);
}

/**
 * A seed, as models take it.
 *
 * @throws ModelError `bad-options` for what is no whole number
 */
export function seedTensor({ seed = 0 }: SeedOptions): BigInt64Array {
  if (typeof seed === 'bigint' || Number.isSafeInteger(seed)) return BigInt64Array.of(BigInt(seed));
  throw new ModelError('bad-options', `seed is ${String(seed)}, which is no whole number`);
}

/** A text that is being made. */
class Generation<State> {
  /** State that the next run starts with; null after the last one, and after one that failed. */
  private state: State | null;
  private readonly run: TextRun<State>;
  private readonly controller = new AbortController();
  private readonly signal: AbortSignal | undefined;
  private readonly abort = (): void => {
    this.controller.abort();
  };
  private isFirst = true;
  private isLeft = false;
  private last: Promise<unknown> = Promise.resolve();

  constructor(first: State, signal: AbortSignal | undefined, run: TextRun<State>) {
    this.state = first;
    this.run = run;
    this.signal = signal;
    if (signal?.aborted === true) this.abort();
    signal?.addEventListener('abort', this.abort);
  }

  /** Calls take turns. */
  next(): Promise<IteratorResult<string, undefined>> {
    const result = this.last.then(() => this.step());
    this.last = result.catch(() => undefined);
    return result;
  }

  return(): Promise<IteratorResult<string, undefined>> {
    this.isLeft = true;
    this.end();
    this.abort();
    return Promise.resolve(END);
  }

  /** The next part that is not empty. */
  private async step(): Promise<IteratorResult<string, undefined>> {
    while (this.state !== null) {
      const { state } = this;
      this.state = null;
      const part = await this.ran(state);
      if (part === null) break;
      this.state = part.state;
      if (part.text.length > 0) return { done: false, value: part.text };
    }
    this.end();
    return END;
  }

  /** Part that a run adds; null when nobody wants it any more. */
  private async ran(state: State): Promise<TextPart<State> | null> {
    try {
      const part = await this.run(state, this.isFirst, this.controller.signal);
      this.isFirst = false;
      return this.isLeft ? null : part;
    } catch (error) {
      if (this.isLeft) return null;
      this.end();
      throw error;
    }
  }

  private end(): void {
    this.state = null;
    this.signal?.removeEventListener('abort', this.abort);
  }
}
