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
    /** Does something with the session, at once where it is open. Until that has ended it is not released. */
    use<Result>(work: (session: Session) => Promise<Result>): Promise<Result>;
    /** Closes the session if nothing uses it. Whether it was. */
    release(): boolean;
    /** Closes the session for good. */
    end(): void;
    private open;
    private openOnce;
}
