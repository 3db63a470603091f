// A session that may be closed between runs, and is opened again by the next one.
import { abortable } from './permitting.js';
/** Counts who uses the session: one that is used is not released. */
export class Reopening {
    /** Null while it is closed. */
    session;
    reopen;
    opening = null;
    users = 0;
    isEnded = false;
    /** `session` is null for one that its first run opens. */
    constructor(session, reopen) {
        this.session = session;
        this.reopen = reopen;
    }
    /** The session, if it is open. */
    get current() {
        return this.session;
    }
    /**
     * Does something with the session, at once where it is open. Until that has ended it is not released. Whoever waits for
     * it to be opened stops when `signal` is aborted: it is there for the next one.
     */
    async use(work, signal) {
        this.users += 1;
        try {
            return await work(this.session ?? (await abortable(this.open(), signal)));
        }
        finally {
            this.users -= 1;
            if (this.isEnded)
                this.release();
        }
    }
    /** Closes the session if nothing uses it. Whether it was. */
    release() {
        if (this.session === null || this.users > 0)
            return false;
        this.lose(this.session);
        return true;
    }
    /** Closes a session that is of no use any more: the next run opens another. */
    lose(session) {
        if (this.session !== session)
            return;
        session.close();
        this.session = null;
    }
    /** Puts another session in the place of one that is open, and closes that: its runs end by themselves. */
    replace(session) {
        const before = this.session;
        this.session = session;
        before?.close();
    }
    /** Closes the session for good, after the last who uses it. */
    end() {
        this.isEnded = true;
        this.release();
    }
    open() {
        this.opening ??= this.openOnce();
        return this.opening;
    }
    async openOnce() {
        try {
            const session = await this.reopen();
            this.session = session;
            if (this.isEnded)
                this.release(); // nobody waits for it any more
            return session;
        }
        finally {
            this.opening = null;
        }
    }
}
