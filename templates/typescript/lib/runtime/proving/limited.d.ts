import { type Backend } from '../backend.js';
import { ModelError } from '../errors.js';
/** The time of a proof is over. */
export declare class Over extends ModelError {
    constructor();
}
/** A backend whose models are opened and run as long as time is left. Downloads take none of it. */
export declare class Limited {
    /** Seconds. */
    left: number;
    /** Seconds of the last run, or of waiting for it. */
    duration: number;
    private readonly inner;
    private readonly signal;
    constructor(inner: Backend, seconds: number, signal: AbortSignal | undefined);
    /** Calls `begin` before a model is opened. */
    backend(begin: () => Promise<void>): Backend;
    /** Calls `late` with a value that comes too late. */
    private spend;
}
