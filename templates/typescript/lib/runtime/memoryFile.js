// A file that comes to memory: what the browser has kept of it is read, and the rest is asked for, from where it was cut off.
import { Deadline, FILE_MS, FileChanged, Interruption } from './downloadRequest.js';
import { ModelError } from './errors.js';
import { requestBytes } from './memoryRequest.js';
const PACE = { pieceBytes: 2 << 20, stallMs: 30_000, fileMs: FILE_MS, firstPauseMs: 500, attempts: 6 };
/** A file of a known size, in one buffer. */
export class MemoryFile {
    bytes;
    wanted;
    watcher;
    kept;
    pace;
    /** By piece, how many of its bytes are there: its first ones. */
    counts;
    /** Settled when all pieces that have come are kept. */
    keeping = Promise.resolve();
    /** Where the next bytes of an answer belong. */
    position = 0;
    tag = '';
    /** Whether all that is there is of one file, as far as anybody knows. */
    isOfOne = true;
    hasReceived = false;
    hasRestarted = false;
    isMended = false;
    failures = 0;
    deadline;
    constructor(wanted, watcher, kept, pace = PACE) {
        this.bytes = new Uint8Array(wanted.sizeBytes);
        this.wanted = wanted;
        this.watcher = watcher;
        this.kept = kept;
        this.pace = pace;
        this.deadline = new Deadline(pace.fileMs, 0);
        this.counts = new Array(Math.ceil(wanted.sizeBytes / pace.pieceBytes)).fill(0);
    }
    /**
     * Gets all that is missing.
     *
     * @throws ModelError `network`, `missing`, `corrupted` or `cancelled`
     */
    async fill() {
        await this.readKept();
        await this.fetchMissing();
    }
    /**
     * Gets a file again whose bytes are not the right ones: pieces that the browser has damaged, else all of it, once.
     *
     * @throws ModelError as `fill`; `wrong` where the server has just sent all of it
     */
    async mend(wrong) {
        if (this.kept !== null && !this.isMended && (await this.kept.removeDamaged(this.wanted.sha256))) {
            this.isMended = true;
            this.counts.fill(0);
            await this.fill();
            return;
        }
        try {
            if (this.isOfOne)
                throw wrong;
            this.restart(wrong);
        }
        finally {
            await this.kept?.remove(this.wanted.sha256);
        }
        await this.fetchMissing();
    }
    async readKept() {
        const { kept, counts, wanted } = this;
        if (kept === null)
            return;
        for (const index of counts.keys()) {
            const [start, end] = this.piece(index);
            const tag = await kept.read(wanted.sha256, start, this.bytes.subarray(start, end));
            if (tag === undefined)
                continue;
            counts[index] = end - start;
            this.tag = tag;
            this.isOfOne = false;
            this.tell();
        }
    }
    async fetchMissing() {
        this.deadline = new Deadline(this.pace.fileMs, this.loadedBytes());
        try {
            for (let gap = this.gap(); gap !== null; gap = this.gap())
                await this.fetch(gap);
        }
        finally {
            await this.keeping;
        }
    }
    /** The first bytes that are missing, up to the next piece of which some are there. */
    gap() {
        const { counts, tag, hasRestarted: isFresh } = this;
        const first = counts.findIndex((count, index) => count < this.lengthOf(index));
        if (first < 0)
            return null;
        const found = counts.findIndex((count, index) => index > first && count > 0);
        const [start] = this.piece(first);
        const end = found < 0 ? this.bytes.length : this.piece(found)[0];
        return { start: start + (counts[first] ?? 0), end, tag, isFresh };
    }
    async fetch(gap) {
        const { signal } = this.watcher;
        const { deadline } = this;
        const before = this.loadedBytes();
        let limit = gap.end;
        const begin = (isWhole, tag) => {
            if (isWhole) {
                this.forget();
                limit = this.bytes.length;
            }
            else if (tag === '')
                this.isOfOne = false;
            this.position = isWhole ? 0 : gap.start;
            this.tag = tag;
        };
        const take = (bytes) => {
            this.take(bytes, limit);
        };
        try {
            await requestBytes(this.wanted, gap, { signal, stallMs: this.pace.stallMs, deadline, begin, take });
            if (this.position < limit)
                this.refuseEnd(gap);
            this.failures = 0;
        }
        catch (reason) {
            if (reason instanceof FileChanged)
                this.restart(new ModelError('corrupted', reason.message));
            else if (reason instanceof Interruption)
                await this.pause(reason, this.loadedBytes() > before);
            else
                throw reason;
        }
    }
    take(bytes, limit) {
        if (this.position + bytes.length > limit)
            throw wrongSize(this.wanted, `more than ${String(limit)}`);
        this.bytes.set(bytes, this.position);
        this.hasReceived = true;
        const end = this.position + bytes.length;
        while (this.position < end) {
            const index = Math.floor(this.position / this.pace.pieceBytes);
            const [start, pieceEnd] = this.piece(index);
            this.position = Math.min(end, pieceEnd);
            this.counts[index] = this.position - start;
            if (this.position === pieceEnd)
                this.keep(start, pieceEnd);
        }
        this.deadline.reached(this.loadedBytes());
        this.tell();
    }
    keep(start, end) {
        const { kept, tag } = this;
        if (kept === null)
            return;
        const { sha256 } = this.wanted;
        this.keeping = this.keeping.then(() => kept.write(sha256, start, this.bytes.subarray(start, end), tag));
    }
    /** An answer has ended in order, but too soon. */
    refuseEnd(gap) {
        if (gap.start > 0)
            throw new Interruption(`${this.wanted.url} sent less than it was asked for`);
        throw wrongSize(this.wanted, String(this.position));
    }
    /** Once: a file that changes time and again is not the one that is wanted. */
    restart(reason) {
        if (this.hasRestarted)
            throw reason;
        this.hasRestarted = true;
        this.tag = '';
        this.forget();
        this.deadline = new Deadline(this.pace.fileMs, 0);
    }
    forget() {
        this.isOfOne = true;
        this.counts.fill(0);
        this.tell();
    }
    /** Where nothing has come at all, asking again is no use: the page is offline, or may not ask. */
    async pause(reason, hasGrown) {
        this.deadline.check(this.wanted.url);
        this.failures = hasGrown ? 1 : this.failures + 1;
        if (!this.hasReceived || this.failures >= this.pace.attempts) {
            throw new ModelError('network', reason.message, { cause: reason });
        }
        await this.sleep(this.pace.firstPauseMs * 2 ** (this.failures - 1));
    }
    sleep(ms) {
        const { signal } = this.watcher;
        return new Promise((resolve, reject) => {
            const cancel = () => {
                clearTimeout(timer);
                reject(new ModelError('cancelled', `the download of ${this.wanted.url} was cancelled`));
            };
            const timer = setTimeout(() => {
                signal?.removeEventListener('abort', cancel);
                resolve();
            }, ms);
            signal?.addEventListener('abort', cancel, { once: true });
            if (signal?.aborted === true)
                cancel();
        });
    }
    piece(index) {
        const start = index * this.pace.pieceBytes;
        return [start, Math.min(start + this.pace.pieceBytes, this.bytes.length)];
    }
    lengthOf(index) {
        const [start, end] = this.piece(index);
        return end - start;
    }
    loadedBytes() {
        return this.counts.reduce((sum, count) => sum + count, 0);
    }
    tell() {
        this.watcher.onBytes(this.loadedBytes());
    }
}
function wrongSize({ url, sizeBytes }, found) {
    return new ModelError('corrupted', `${url} has ${found} bytes, the package was built with one of ${String(sizeBytes)}`);
}
