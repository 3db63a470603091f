/** How one call goes. */
export interface CallOptions {
    /** Ends the call at the model's next operator; it is then rejected with `cancelled`. */
    readonly signal?: AbortSignal;
}
/** What a call of `classifySync` gives. */
export interface ClassifySyncOptions {
    /** How many classes at most, best first. */
    readonly top?: number;
}
/** How a call of `classify` goes, and what it gives. */
export interface ClassifyOptions extends CallOptions, ClassifySyncOptions {
}
/**
 * How many classes a call gives: `usual` when it does not say.
 *
 * @throws ModelError `bad-options` for what is no number of classes
 */
export declare function topOf(options: ClassifySyncOptions, usual: number): number;
