import type { Fallback } from './observer.js';
import { type Outcome } from './opening.js';
import { Session } from './session.js';
/** Does something with a session; `isRetry` after another one failed. */
export type Attempt<Result> = (session: Session, isRetry: boolean) => Promise<Result>;
/** Follows the policies of the app. */
export declare class Serving {
    /** The session that was open last: it knows the tensors though it may be closed. */
    latest: Session;
    /** Providers that did not start, or failed. */
    fallbacks: readonly Fallback[];
    private readonly policies;
    private usual;
    private spare;
    /** The session of a provider that failed too often: closed after its last run, or at the end if worklets may have it. */
    private retired;
    /** Null for sessions whose threads stay as they are. */
    private readonly heat;
    private isSwapping;
    private failures;
    private isPinned;
    private wasRun;
    private isEnded;
    /** Memory or a descriptor that the app may have given back since: nothing is opened from there again. */
    private readonly isLent;
    private readonly unsubscribe;
    private readonly letGo;
    constructor(first: Outcome);
    /**
     * Before a run: what is lost is opened again by it, and if the device has become hot or cool, the model is opened with
     * other threads, for which no run waits.
     */
    prepare(): void;
    /** Whether inputs are read again after the call: by a session that is not open yet, or by one on the CPU. */
    get readsLater(): boolean;
    /** Does something on the session, which is opened first where it was released, and once more on the CPU if that fails. */
    run<Result>(attempt: Attempt<Result>, signal?: AbortSignal): Promise<Result>;
    /** `run` without another attempt. */
    use<Result>(work: (session: Session) => Promise<Result>, signal?: AbortSignal): Promise<Result>;
    /** A session whose host has failed. */
    private dropLost;
    /**
     * The session for what does not wait. It is not released from now on.
     *
     * @throws ModelError `unsupported` where it was released
     */
    now(): Session;
    end(): void;
    private mayRetry;
    private release;
    private tellOfRelease;
    private reopen;
    private show;
    /** Opens a session with other threads, and then puts it in the place of the one before. If that fails, that one stays. */
    private swap;
    /** If it succeeds on the CPU, what failed is the provider; else the call, and the CPU's session is not kept for it. */
    private retry;
    private cpu;
    private countFailure;
}
