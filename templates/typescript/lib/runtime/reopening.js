// A session that may be closed between runs, and is opened again by the next one.
import { ModelError } from './errors.js';
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
    /** Does something with the session, at once where it is open. Until that has ended it is not released. */
    async use(work) {
        this.users += 1;
        try {
            return await work(this.session ?? (await this.open()));
        }
        finally {
            this.users -= 1;
        }
    }
    /** Closes the session if nothing uses it. Whether it was. */
    release() {
        if (this.session === null || this.users > 0)
            return false;
        this.session.close();
        this.session = null;
        return true;
    }
    /** Closes the session for good. */
    end() {
        this.isEnded = true;
        this.session?.close();
    }
    open() {
        this.opening ??= this.openOnce();
        return this.opening;
    }
    async openOnce() {
        try {
            const session = await this.reopen();
            if (this.isEnded) {
                session.close();
                throw new ModelError('disposed', 'the model was disposed of while it was opened again');
            }
            this.session = session;
            return session;
        }
        finally {
            this.opening = null;
        }
    }
}
