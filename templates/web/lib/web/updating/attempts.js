// Notes that a page was left or hidden while a model opened, in localStorage: nothing else is written as a page goes.
const EVENTS = ['pagehide', 'visibilitychange'];
/** The attempts of pages with the same folder. Where there is no localStorage, as in workers, nobody is known to leave. */
export class PageAttempts {
    folder;
    running = new Map();
    /** Attempts during which somebody has left the page, though he may have come back. */
    unseen = new Set();
    constructor(folder) {
        this.folder = folder;
    }
    begin(name) {
        this.end(name);
        this.unseen.delete(name);
        // A browser may end a hidden page without a further word.
        const note = (event) => {
            const isLeft = event?.type === 'pagehide' || isHidden();
            if (isLeft)
                this.unseen.add(name);
            this.keep(name, isLeft);
        };
        note();
        this.running.set(name, note);
        for (const event of EVENTS)
            globalThis.addEventListener(event, note, { capture: true });
    }
    end(name) {
        const note = this.running.get(name);
        this.running.delete(name);
        if (note !== undefined)
            for (const event of EVENTS)
                globalThis.removeEventListener(event, note, { capture: true });
        this.keep(name, false);
    }
    wasLeft(name) {
        return storage()?.getItem(this.key(name)) === 'left';
    }
    isSeen(name) {
        return !this.unseen.has(name);
    }
    keep(name, isLeft) {
        try {
            if (isLeft)
                storage()?.setItem(this.key(name), 'left');
            else
                storage()?.removeItem(this.key(name));
        }
        catch {
            // Full: the attempt counts as one that ended the page.
        }
    }
    key(name) {
        return `mobpack ${this.folder} ${name}`;
    }
}
/** Workers have no document. */
function isHidden() {
    return globalThis.document?.visibilityState === 'hidden';
}
/** Null in workers, and in pages whose settings forbid it. */
function storage() {
    try {
        return globalThis.localStorage ?? null;
    }
    catch {
        return null;
    }
}
