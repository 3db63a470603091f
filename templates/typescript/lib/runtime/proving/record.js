// Verdicts on providers that survive restarts: one document for each model, on the device alone.
const FORMAT = 1;
/** More are those of other versions and options. */
const MOST_ENTRIES = 32;
/** The record of a model. One that is unreadable is none, and what cannot be written is forgotten. */
export class ProofRecord {
    store;
    presence;
    last = Promise.resolve();
    constructor(backend, model) {
        const { cache } = backend.about();
        this.store =
            cache === '' ? pageStore(`mobpack proofs ${backend.packageName ?? ''} ${model}`) : fileStore(backend, `${cache}/proofs/${model}.json`);
        this.presence = backend.presence ?? page;
    }
    async find(key) {
        return (await this.entries()).find((each) => isOf(each, key));
    }
    async put(entry) {
        await this.change((others) => [entry, ...others].slice(0, MOST_ENTRIES), entry);
    }
    async remove(key) {
        await this.change((others) => others, key);
    }
    /**
     * Notes that a provider is tried, until what this gives is called: who finds the note later knows that the process has
     * ended. Whoever leaves an app or a page may end it, so that there is no note meanwhile.
     */
    async begin(key) {
        const note = (isAway) => isAway ? this.remove(key) : this.put({ ...key, state: 'trying', reason: '' });
        const end = this.presence.onChange((isAway) => void note(isAway));
        await note(this.presence.isAway());
        return end;
    }
    /** One change after the other, each of what is there by then: another process may write, too. */
    change(changed, key) {
        this.last = this.last.then(async () => {
            const others = (await this.entries()).filter((each) => !isOf(each, key));
            await this.store.write(JSON.stringify({ format: FORMAT, proofs: changed(others) })).catch(() => undefined);
        });
        return this.last;
    }
    async entries() {
        try {
            const found = JSON.parse((await this.store.read()) ?? 'null');
            return found?.format === FORMAT ? found.proofs.filter(isEntry) : [];
        }
        catch {
            return [];
        }
    }
}
function isOf(entry, { provider, file, device }) {
    return entry.provider === provider && entry.file === file && entry.device === device;
}
function isEntry(found) {
    const { provider, file, device, state, reason, seconds = 0, cpu_seconds = 0 } = found;
    const texts = [provider, file, device, reason].every((each) => typeof each === 'string');
    const isKnown = state === 'trying' || state === 'proved' || state === 'refused';
    return texts && isKnown && typeof seconds === 'number' && typeof cpu_seconds === 'number';
}
/** A file of an app. Its text is ASCII: not every engine knows UTF-8. */
function fileStore(backend, path) {
    return {
        read: async () => {
            const size = backend.fileSize(path);
            if (size < 0)
                return null;
            const bytes = new ArrayBuffer(size);
            await backend.readFile(path, 0, bytes, '');
            return Array.from(new Uint8Array(bytes), (byte) => String.fromCharCode(byte)).join('');
        },
        write: async (text) => {
            const escaped = text.replace(/[^ -~]/g, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`);
            const bytes = Uint8Array.from(escaped, (each) => each.charCodeAt(0));
            await backend.writePart(`${path}.part`, 0, bytes.buffer);
            await backend.finishPart(`${path}.part`, path, bytes.length, '');
        },
    };
}
/** The page's localStorage: nothing else is written as a page goes. Workers have none, and some pages may not use it. */
function pageStore(key) {
    return {
        read: () => Promise.resolve().then(() => localStorage.getItem(key)),
        write: (text) => Promise.resolve().then(() => { localStorage.setItem(key, text); }),
    };
}
const site = globalThis;
/** A browser may end a hidden page without a further word. */
const page = {
    isAway: () => site.document?.visibilityState === 'hidden',
    onChange: (listener) => {
        const tell = ({ type }) => {
            listener(type === 'pagehide' || page.isAway());
        };
        if (site.document === undefined)
            return () => undefined;
        for (const event of ['pagehide', 'visibilitychange'])
            site.addEventListener(event, tell, { capture: true });
        return () => {
            for (const event of ['pagehide', 'visibilitychange'])
                site.removeEventListener(event, tell, { capture: true });
        };
    },
};
