// Results for the latest frame of a camera, a microphone or another source.

/** A source of frames: an object for `for await`, or one with `next` and, if it can be ended, `return`. */
export type FrameSource<Frame> = AsyncIterable<Frame> | AsyncIterator<Frame>;

/** Results, for `for await` or `next`. Leaving the loop, or `return`, ends the source and the run that is under way. */
export interface Frames<Result> extends AsyncIterable<Result> {
  next(): Promise<IteratorResult<Result, undefined>>;
  return(): Promise<IteratorResult<Result, undefined>>;
}

/** Runs a model on a frame. */
export type FrameCall<Frame, Result> = (frame: Frame, signal: AbortSignal) => Promise<Result>;

/** Where an engine lacks the symbol, `for await` as Babel compiles it looks for a name. */
export const ITERATOR: symbol | string = nameOfIterator();
const END = { done: true, value: undefined } as const;

function nameOfIterator(): symbol | string {
  const known = Symbol.asyncIterator as symbol | undefined;
  return known ?? '@@asyncIterator';
}

/**
 * Results of `call` for the frames of `source`, in order, one call at a time. Of frames that come meanwhile all but the
 * last are dropped. It ends with its source, or with the first error.
 */
export function latestOf<Frame, Result>(
  source: FrameSource<Frame>,
  call: FrameCall<Frame, Result>,
): Frames<Result> {
  const latest = new Latest(iteratorOf(source), call);
  const frames: Frames<Result> = {
    next: () => latest.next(),
    return: () => latest.return(),
    [ITERATOR]: () => frames,
  } as unknown as Frames<Result>; // the compiler knows no other name than the symbol
  return frames;
}

function iteratorOf<Frame>(source: FrameSource<Frame>): AsyncIterator<Frame> {
  const iterable = source as unknown as Readonly<Record<PropertyKey, (() => AsyncIterator<Frame>) | undefined>>;
  return iterable[ITERATOR]?.() ?? (source as AsyncIterator<Frame>);
}

/** Reads a source without end, and keeps one frame. */
class Latest<Frame, Result> {
  private readonly source: AsyncIterator<Frame>;
  private readonly call: FrameCall<Frame, Result>;
  private readonly controller = new AbortController();
  private reading: Promise<void> | null = null;
  private kept: readonly [Frame] | null = null;
  private failure: readonly [unknown] | null = null;
  /** Whether no frame comes any more. */
  private isEnded = false;
  private wake: () => void = () => undefined;
  private last: Promise<unknown> = Promise.resolve();

  constructor(source: AsyncIterator<Frame>, call: FrameCall<Frame, Result>) {
    this.source = source;
    this.call = call;
  }

  /** Calls take turns. */
  next(): Promise<IteratorResult<Result, undefined>> {
    const result = this.last.then(() => this.step());
    this.last = result.catch(() => undefined);
    return result;
  }

  return(): Promise<IteratorResult<Result, undefined>> {
    this.stop();
    return Promise.resolve(END);
  }

  private async step(): Promise<IteratorResult<Result, undefined>> {
    this.reading ??= this.read();
    const frame = await this.take();
    if (frame === null) return END;
    try {
      return { done: false, value: await this.call(frame[0], this.controller.signal) };
    } catch (error) {
      if (this.controller.signal.aborted) return END;
      this.stop();
      throw error;
    }
  }

  /** The frame that is kept, or the next one; null after the last. */
  private async take(): Promise<readonly [Frame] | null> {
    while (this.kept === null && !this.isEnded) {
      await new Promise<void>((resolve) => (this.wake = resolve));
    }
    const { kept, failure } = this;
    this.kept = null;
    if (kept !== null || failure === null) return kept;
    this.failure = null;
    throw failure[0];
  }

  private async read(): Promise<void> {
    try {
      for (let item = await this.source.next(); item.done !== true; item = await this.source.next()) {
        if (this.isEnded) return;
        this.kept = [item.value];
        this.wake();
      }
    } catch (error) {
      this.failure = [error];
    }
    this.isEnded = true;
    this.wake();
  }

  private stop(): void {
    this.controller.abort();
    this.kept = null;
    if (this.isEnded) return;
    this.isEnded = true;
    this.wake();
    void this.close();
  }

  /** Nobody waits for the source's end: one that has no frame may not end before the next. */
  private async close(): Promise<void> {
    try {
      await this.source.return?.();
    } catch (error) {
      console.error(error);
    }
  }
}
