import type { Session } from './session.js';
/** Counts who uses the session: one that is used is not released. */
export declare class Reopening {
    /** Null while it is closed. */
    private session;
    private readonly reopen;
    private opening;
    private users;
    private isEnded;
    /** `session` is null for one that its first run opens. */
    constructor(session: Session | null, reopen: () => Promise<Session>);
    /** The session, if it is open. */
    get current(): Session | null;
    /**
     * Does something with the session, at once where it is open. Until that has ended it is not released. Whoever waits for
     * it to be opened stops when `signal` is aborted: it is there for the next one.
     */
    use<Result>(work: (session: Session) => Promise<Result>, signal?: AbortSignal): Promise<Result>;
    /** Closes the session if nothing uses it. Whether it was. */
    release(): boolean;
    /** Closes a session that is of no use any more: the next run opens another. */
    lose(session: Session): void;
    /** Puts another session in the place of one that is open, and closes that: its runs end by themselves. */
    replace(session: Session): void;
    /** Closes the session for good, after the last who uses it. */
    end(): void;
    private open;
    private openOnce;
}
