// How many threads a model has on a hot device.
import { policiesOf } from './policies.js';
/** The threads of a model's sessions. */
export class Heat {
    /** Of the session that is open: 0 for the usual number. */
    threads = 0;
    backend;
    half;
    constructor(backend, usual) {
        this.backend = backend;
        this.half = Math.floor(usual / 2);
    }
    /** Null where the app decides how many threads there are, or where there are none to spare. */
    static of(backend, { threads = 0, policies }) {
        const usual = backend.about().threads;
        return policiesOf(policies).fewerThreadsWhenHot && threads === 0 && usual > 1 ? new Heat(backend, usual) : null;
    }
    /** Whether the device has become hot or cool since the session was opened. */
    isChanged() {
        return this.wanted !== this.threads;
    }
    /** What the next session gets. */
    follow() {
        this.threads = this.wanted;
    }
    get wanted() {
        return this.backend.isHot() ? this.half : 0;
    }
}
