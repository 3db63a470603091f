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
/** The text that `run` makes from the state `first` on, a run at a time, when a part is asked for. */
export declare function generated<State>(first: State, signal: AbortSignal | undefined, run: TextRun<State>): GeneratedText;
/** The text of code points. */
export declare function textOf(points: Int32Array): string;
/**
 * A seed, as models take it.
 *
 * @throws ModelError `bad-options` for what is no whole number
 */
export declare function seedTensor({ seed }: SeedOptions): BigInt64Array;
export {};
