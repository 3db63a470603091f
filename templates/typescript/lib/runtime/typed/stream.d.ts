import { type Sound, type SoundPiece } from './sound.js';
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
/** A stream; `begin` makes the runs of a new sound. */
export declare function streamOf<Result>(form: Form, options: StreamOptions, begin: () => Step<Result>): SoundStream<Result>;
export {};
