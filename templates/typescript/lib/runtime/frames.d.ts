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
export declare const ITERATOR: symbol | string;
/**
 * Results of `call` for the frames of `source`, in order, one call at a time. Of frames that come meanwhile all but the
 * last are dropped. It ends with its source, or with the first error.
 */
export declare function latestOf<Frame, Result>(source: FrameSource<Frame>, call: FrameCall<Frame, Result>): Frames<Result>;
