/** Options of a call. */
export interface CallOptions {
    /** Ends the call at the model's next operator; it is then rejected with `cancelled`. */
    readonly signal?: AbortSignal;
}
/** Options of `classifySync`. */
export interface ClassifySyncOptions {
    /** The largest number of classes, best first. */
    readonly top?: number;
}
/** Options of `classify`. */
export interface ClassifyOptions extends CallOptions, ClassifySyncOptions {
}
/**
 * How many classes a call gives: `usual` when it does not say.
 *
 * @throws ModelError `bad-options` for what is no number of classes
 */
export declare function topOf(options: ClassifySyncOptions, usual: number): number;
