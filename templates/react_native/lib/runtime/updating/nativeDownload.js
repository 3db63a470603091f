// Downloads a file of a channel: in pieces, so that what is there is not fetched again, and never more than was signed.
import { Deadline, FILE_MS, FileChanged, Interruption, requestPiece } from '../downloadRequest.js';
import { ModelError, toModelError } from '../errors.js';
// React Native has Base64 read by JavaScript, a piece at once: larger ones would keep apps from drawing.
const LARGEST_PIECE_BYTES = 1 << 20;
const SMALLEST_PIECE_BYTES = 128 << 10;
const STALL_MS = 30_000;
const FIRST_PAUSE_MS = 500;
const MOST_ATTEMPTS = 4;
/** @throws ModelError `network`, `corrupted`, `no-space`, `unreadable` or `cancelled` */
export async function fetchFile(wanted, store, watcher) {
    const { path, sizeBytes, sha256 } = wanted;
    const part = `${path}.part`;
    const found = store.fileSize(part);
    const start = found > 0 && found <= sizeBytes ? found : 0;
    try {
        await fetchFrom(start, wanted, store, watcher);
        await store.finishPart(part, path, sizeBytes, sha256);
    }
    catch (reason) {
        const isOfOne = start === 0 && !(reason instanceof FileChanged);
        const error = reason instanceof FileChanged ? new ModelError('corrupted', reason.message) : toModelError(reason);
        // The first bytes may be of an older file on the server, or the device lost some: once more, from the start.
        if (error.code !== 'corrupted' || isOfOne)
            throw error;
        await fetchFrom(0, wanted, store, watcher);
        await store.finishPart(part, path, sizeBytes, sha256);
    }
}
async function fetchFrom(start, wanted, store, watcher) {
    let offset = start;
    let tag = '';
    let pieceBytes = LARGEST_PIECE_BYTES;
    let failures = 0;
    const deadline = new Deadline(FILE_MS, start);
    watcher.onBytes(offset);
    while (offset < wanted.sizeBytes) {
        try {
            const length = Math.min(pieceBytes, wanted.sizeBytes - offset);
            const piece = await fetchPiece({ offset, tag, length, deadline }, wanted, watcher);
            await store.writePart(`${wanted.path}.part`, piece.offset, piece.bytes);
            offset = piece.offset + piece.bytes.byteLength;
            tag = piece.tag;
            failures = 0;
        }
        catch (reason) {
            if (!(reason instanceof Interruption))
                throw reason;
            deadline.check(wanted.url);
            failures += 1;
            if (failures >= MOST_ATTEMPTS)
                throw new ModelError('network', reason.message, { cause: reason });
            pieceBytes = Math.max(Math.floor(pieceBytes / 2), SMALLEST_PIECE_BYTES);
            await pause(FIRST_PAUSE_MS * 2 ** (failures - 1), wanted, watcher.signal);
        }
        watcher.onBytes(offset);
    }
}
function fetchPiece({ offset, tag, length, deadline }, { url, sizeBytes }, { signal = new AbortController().signal, onBytes }) {
    const told = (received) => {
        onBytes(offset + Math.min(received, length));
    };
    return requestPiece({ url, offset, length, sizeBytes, tag }, { signal, stallMs: STALL_MS, deadline, onBytes: told });
}
function pause(ms, { url }, signal) {
    return new Promise((resolve, reject) => {
        const cancel = () => {
            clearTimeout(timer);
            reject(new ModelError('cancelled', `the download of ${url} was cancelled`));
        };
        const timer = setTimeout(() => {
            signal?.removeEventListener('abort', cancel);
            resolve();
        }, ms);
        signal?.addEventListener('abort', cancel);
        if (signal?.aborted === true)
            cancel();
    });
}
