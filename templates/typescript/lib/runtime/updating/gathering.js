// Gets the files of a release: from what is there, by deltas, or whole.
import { ModelError, toModelError } from '../errors.js';
/** Files that have to be fetched. */
export class Shopping {
    missing;
    gathering;
    loaded = new Map();
    constructor(gathering, missing) {
        this.gathering = gathering;
        this.missing = missing;
    }
    /** Size of the files that are not there yet. */
    get newBytes() {
        return sum(this.missing.map(({ blob }) => blob.sizeBytes));
    }
    /** Bytes that are downloaded if all deltas can be applied. */
    get downloadBytes() {
        return sum(this.missing.map(({ blob, delta }) => (delta ?? blob).sizeBytes));
    }
    /** @throws ModelError */
    async get() {
        const { platform, packaged } = this.gathering;
        for (const { blob, delta } of this.missing) {
            const own = packaged.get(blob.sha256);
            if (own !== undefined && (await this.succeeds(() => platform.adopt(own))))
                continue;
            if (delta !== null && (await this.succeeds(() => this.patch(blob, delta))))
                continue;
            await this.download(blob);
        }
    }
    async patch(blob, delta) {
        const { platform, packaged, signal } = this.gathering;
        await this.download(delta);
        this.tell('patching');
        const isKept = (await platform.fileNames()).includes(delta.source);
        const own = isKept ? null : (packaged.get(delta.source) ?? null);
        try {
            await platform.patch({ source: delta.source, packaged: own, delta, result: blob }, signal);
        }
        finally {
            await platform.removeFile(delta.sha256);
        }
    }
    async download({ sha256, sizeBytes }) {
        const { platform, address, signal } = this.gathering;
        const watcher = {
            signal,
            onBytes: (loadedBytes) => {
                this.loaded.set(sha256, loadedBytes);
                this.tell('downloading');
            },
        };
        this.tell('downloading');
        // By content, as TUF has it: no path comes from a list.
        await platform.download({ url: `${address}${sha256}.${sha256}`, sha256, sizeBytes }, watcher);
        watcher.onBytes(sizeBytes);
    }
    tell(phase) {
        this.gathering.tell(phase, sum([...this.loaded.values()]), this.downloadBytes);
    }
    /** Every failure has another way out, unless nobody wants it any more. */
    async succeeds(work) {
        try {
            await work();
            return true;
        }
        catch (reason) {
            const error = toModelError(reason);
            if (error.code === 'cancelled' || this.gathering.signal?.aborted === true)
                throw error;
            return false;
        }
    }
}
/** Missing ones among `blobs`, and the smallest delta of each whose source is there. */
export async function shoppingFor(blobs, gathering) {
    const { platform, packaged } = gathering;
    const kept = new Set(await platform.fileNames());
    const missing = [];
    for (const blob of blobs) {
        if (kept.has(blob.sha256) && (await platform.hasFile(blob)))
            continue;
        const usable = blob.deltas.filter(({ source, sizeBytes }) => sizeBytes < blob.sizeBytes && (kept.has(source) || packaged.has(source)));
        const [delta = null] = [...usable].sort((one, other) => one.sizeBytes - other.sizeBytes);
        missing.push({ blob, delta });
    }
    return new Shopping(gathering, missing);
}
/**
 * Whether there is room: `inUse` are the files that stay.
 *
 * @throws ModelError `no-space`
 */
export async function checkRoom(shopping, inUse, limitBytes, platform) {
    const needed = shopping.newBytes;
    const used = sum([...new Map(inUse.map(({ sha256, sizeBytes }) => [sha256, sizeBytes])).values()]);
    if (limitBytes !== undefined && used + needed > limitBytes) {
        throw new ModelError('no-space', `the downloads would take ${String(used + needed)} bytes, and limitBytes is ${String(limitBytes)}`);
    }
    const free = await platform.freeBytes();
    if (free >= 0 && free < needed) {
        throw new ModelError('no-space', `the download needs ${String(needed)} bytes, and ${String(free)} are free`);
    }
}
function sum(sizes) {
    return sizes.reduce((total, size) => total + size, 0);
}
