// Notes that an app was left while a model opened, in the updater's folder: a system ends apps that nobody sees.
import { isAway } from '../native.js';
const NAME = 'left.json';
/** The attempts of an app. */
export class AppAttempts {
    app;
    texts;
    running = new Set();
    /** Attempts during which the app was left, though somebody may have come back. */
    unseen = new Set();
    /** Names of attempts that were left, as they are written down. */
    left = null;
    subscription = null;
    constructor(app, texts) {
        this.app = app;
        this.texts = texts;
    }
    async begin(name) {
        this.running.add(name);
        this.unseen.delete(name);
        this.subscription ??= this.app.addEventListener('change', (state) => {
            void this.note([...this.running], isAway(state));
        });
        await this.note([name], isAway(this.app.currentState));
    }
    async end(name) {
        this.running.delete(name);
        if (this.running.size === 0) {
            this.subscription?.remove();
            this.subscription = null;
        }
        await this.keep([name], false);
    }
    async wasLeft(name) {
        return (await this.known()).has(name);
    }
    isSeen(name) {
        return !this.unseen.has(name);
    }
    note(names, isLeft) {
        if (isLeft)
            for (const name of names)
                this.unseen.add(name);
        return this.keep(names, isLeft);
    }
    /** One after the other. What cannot be written down counts as an attempt that ended the app. */
    keep(names, isLeft) {
        const kept = this.known().then(async (before) => {
            const after = new Set([...before].filter((name) => !names.includes(name)).concat(isLeft ? names : []));
            const isSame = after.size === before.size && [...after].every((name) => before.has(name));
            if (!isSame)
                await this.texts.writeText(NAME, JSON.stringify([...after])).catch(() => undefined);
            return after;
        });
        this.left = kept;
        return kept.then(() => undefined);
    }
    known() {
        this.left ??= this.read().catch(() => new Set());
        return this.left;
    }
    async read() {
        const found = JSON.parse((await this.texts.readText(NAME)) ?? '[]');
        return new Set(Array.isArray(found) ? found.filter((each) => typeof each === 'string') : []);
    }
}
