// Downloads files: in pieces, so that what is there is not fetched again, and each file once, however many wait for it.
import { Deadline, FILE_MS, FileChanged, Interruption, requestPiece } from './downloadRequest.js';
import { ModelError, toModelError } from './errors.js';
const PACE = {
    // React Native has Base64 read by JavaScript, a piece at once: four times as much would keep apps from drawing.
    largestPieceBytes: 1 << 20,
    smallestPieceBytes: 128 << 10,
    stallMs: 30_000,
    fileMs: FILE_MS,
    firstPauseMs: 500,
    attempts: 6,
};
/** By path. */
const underWay = new Map();
/** Paths of files that are being downloaded. */
export function pathsUnderWay() {
    return [...underWay.keys()];
}
/**
 * Downloads a file unless it is there. Who asks for one that is on its way waits for that; when nobody waits any more, it
 * ends, and what has come is kept for the next time.
 *
 * @throws ModelError `network`, `corrupted`, `no-space`, `unreadable` or `cancelled`
 */
export async function download(wanted, store, watcher, pace = PACE) {
    for (;;) {
        if (watcher.signal?.aborted === true)
            throw cancelled(wanted);
        const shared = underWay.get(wanted.path);
        if (shared?.isAbandoned === false)
            return shared.waitFor(watcher);
        if (shared === undefined) {
            if (store.fileSize(wanted.path) === wanted.sizeBytes)
                return;
            return new SharedDownload(wanted, store, pace).waitFor(watcher);
        }
        await shared.settled;
    }
}
function cancelled(wanted) {
    return new ModelError('cancelled', `the download of ${wanted.url} was cancelled`);
}
/** One download and all who wait for it. */
class SharedDownload {
    /** Ends, well or not, when nothing more is written. */
    settled;
    wanted;
    ended;
    stop = new AbortController();
    watchers = new Set();
    loadedBytes = 0;
    constructor(wanted, store, pace) {
        this.wanted = wanted;
        const file = new PartialFile(wanted, store, pace, this.stop.signal, (loadedBytes) => {
            this.tell(loadedBytes);
        });
        underWay.set(wanted.path, this);
        this.ended = file.complete().finally(() => {
            underWay.delete(wanted.path);
        });
        this.settled = this.ended.catch(() => undefined);
    }
    get isAbandoned() {
        return this.stop.signal.aborted;
    }
    async waitFor(watcher) {
        this.watchers.add(watcher);
        watcher.onBytes(this.loadedBytes);
        let leave = () => undefined;
        const left = new Promise((_, reject) => {
            leave = () => {
                reject(cancelled(this.wanted));
            };
            watcher.signal?.addEventListener('abort', leave);
        });
        try {
            await Promise.race([this.ended, left]);
        }
        finally {
            watcher.signal?.removeEventListener('abort', leave);
            this.watchers.delete(watcher);
            if (this.watchers.size === 0)
                this.stop.abort();
        }
    }
    tell(loadedBytes) {
        this.loadedBytes = loadedBytes;
        for (const watcher of this.watchers)
            watcher.onBytes(loadedBytes);
    }
}
/** The part of a file that has arrived, and the way to the rest. */
class PartialFile {
    part;
    wanted;
    store;
    pace;
    signal;
    onBytes;
    offset = 0;
    pieceBytes;
    failures = 0;
    deadline;
    /** ETag of what has come since the download was started; what came earlier has none. */
    tag = '';
    /** Whether all that is there is of one file, as far as anybody knows. */
    isOfOne = true;
    hasRestarted = false;
    constructor(wanted, store, pace, signal, onBytes) {
        this.part = `${wanted.path}.part`;
        this.wanted = wanted;
        this.store = store;
        this.pace = pace;
        this.signal = signal;
        this.onBytes = onBytes;
        this.pieceBytes = pace.largestPieceBytes;
        this.deadline = new Deadline(pace.fileMs, 0);
    }
    async complete() {
        const { sizeBytes, path, sha256 } = this.wanted;
        this.resume();
        for (;;) {
            while (this.offset < sizeBytes)
                await this.fetchNext();
            try {
                await this.store.finishPart(this.part, path, sizeBytes, sha256);
                return;
            }
            catch (reason) {
                const error = toModelError(reason);
                // The first bytes may be of an older file on the server, or the device lost some: once more, from the start.
                if (error.code !== 'corrupted' || this.isOfOne)
                    throw error;
                this.restart(error);
            }
        }
    }
    resume() {
        const found = this.store.fileSize(this.part);
        this.offset = found > 0 && found <= this.wanted.sizeBytes ? found : 0;
        this.isOfOne = this.offset === 0;
        this.deadline = new Deadline(this.pace.fileMs, this.offset);
        this.onBytes(this.offset);
    }
    async fetchNext() {
        try {
            await this.append(await this.request());
            this.failures = 0;
            this.pieceBytes = Math.min(this.pieceBytes * 2, this.pace.largestPieceBytes);
        }
        catch (reason) {
            if (reason instanceof FileChanged)
                this.restart(new ModelError('corrupted', reason.message));
            else if (reason instanceof Interruption)
                await this.pause(reason);
            else
                throw toModelError(reason);
        }
    }
    request() {
        const { offset, tag, signal, pace, deadline } = this;
        const { url, sizeBytes } = this.wanted;
        const length = Math.min(this.pieceBytes, sizeBytes - offset);
        const onBytes = (received) => {
            this.onBytes(offset + Math.min(received, length));
        };
        return requestPiece({ url, offset, length, sizeBytes, tag }, { signal, stallMs: pace.stallMs, deadline, onBytes });
    }
    async append(piece) {
        if (piece.offset === 0)
            this.isOfOne = true;
        await this.store.writePart(this.part, piece.offset, piece.bytes);
        this.offset = piece.offset + piece.bytes.byteLength;
        this.tag = piece.tag;
        this.onBytes(this.offset);
    }
    /** Once: a file that changes time and again is not the one that is wanted. */
    restart(reason) {
        if (this.hasRestarted || (this.offset === 0 && this.isOfOne))
            throw reason;
        this.hasRestarted = true;
        this.isOfOne = true;
        this.offset = 0;
        this.tag = '';
        this.deadline = new Deadline(this.pace.fileMs, 0);
        this.onBytes(0);
    }
    /** Longer each time, with smaller pieces after it: of a piece that is cut off nothing is kept. */
    async pause(reason) {
        this.deadline.check(this.wanted.url);
        this.failures += 1;
        if (this.failures >= this.pace.attempts)
            throw new ModelError('network', reason.message, { cause: reason });
        this.pieceBytes = Math.max(Math.floor(this.pieceBytes / 2), this.pace.smallestPieceBytes);
        this.onBytes(this.offset);
        await this.sleep(this.pace.firstPauseMs * 2 ** (this.failures - 1));
    }
    sleep(ms) {
        return new Promise((resolve, reject) => {
            const cancel = () => {
                clearTimeout(timer);
                reject(cancelled(this.wanted));
            };
            const timer = setTimeout(() => {
                this.signal.removeEventListener('abort', cancel);
                resolve();
            }, ms);
            this.signal.addEventListener('abort', cancel);
            if (this.signal.aborted)
                cancel();
        });
    }
}
