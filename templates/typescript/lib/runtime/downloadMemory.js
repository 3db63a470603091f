// Files in memory, for browsers: there is no folder that they could be kept in.
import { Deadline, FILE_MS, Interruption } from './downloadRequest.js';
import { ModelError } from './errors.js';
import { MemoryFile } from './memoryFile.js';
import { requestBytes } from './memoryRequest.js';
/** Longest wait for an answer that brings nothing. */
const STALL_MS = 30_000;
/** By the part that says where they are: they are gone when nobody has that any more. */
const bytesByPart = new WeakMap();
/** Makes `bytes` those of `part`. */
export function keepInMemory(part, bytes) {
    bytesByPart.set(part, bytes);
}
/** The bytes of a part that is in memory. */
export function bytesInMemory(part) {
    return bytesByPart.get(part);
}
/**
 * A file of the package: what the browser kept of earlier visits, and the rest fetched, and then kept. All of it is checked;
 * what is damaged is fetched again.
 *
 * @param checksum - how the whole is checked, such as on another thread
 * @throws ModelError `network`, `missing`, `corrupted` or `cancelled`
 */
export async function fetchOnce(wanted, watcher, kept, checksum = checksumHere) {
    const { url, sizeBytes, sha256 } = wanted;
    if (sizeBytes < 0)
        return fetchUnsized(wanted, watcher);
    const file = new MemoryFile(wanted, watcher, sha256 === '' ? null : kept);
    await file.fill();
    if (sha256 === '')
        return file.bytes.buffer;
    for (;;) {
        const found = await checksum(file.bytes.buffer);
        file.bytes = new Uint8Array(found.bytes);
        if (found.sha256 === sha256)
            return found.bytes;
        await file.mend(wrongContent(url, found.sha256, sha256));
    }
}
/**
 * Fetches a file and checks it; nothing of it is kept.
 *
 * @throws ModelError as `fetchOnce`
 */
export function fetchToMemory(wanted, watcher) {
    return fetchOnce(wanted, watcher, null);
}
async function fetchUnsized(wanted, { signal }) {
    const chunks = [];
    const deadline = new Deadline(FILE_MS, 0);
    let size = 0;
    const taker = {
        signal,
        stallMs: STALL_MS,
        deadline,
        begin: () => undefined,
        take: (bytes) => {
            chunks.push(Uint8Array.from(bytes));
            size += bytes.length;
            deadline.reached(size);
        },
    };
    try {
        await requestBytes(wanted, { start: 0, end: wanted.sizeBytes, tag: '', isFresh: false }, taker);
    }
    catch (reason) {
        if (reason instanceof Interruption)
            throw new ModelError('network', reason.message, { cause: reason });
        throw reason;
    }
    const bytes = joined(chunks);
    await checkBytes(bytes, wanted.sizeBytes, wanted.sha256, wanted.url);
    return bytes.buffer;
}
function joined(chunks) {
    const all = new Uint8Array(chunks.reduce((total, { length }) => total + length, 0));
    let length = 0;
    for (const chunk of chunks) {
        all.set(chunk, length);
        length += chunk.length;
    }
    return all;
}
/** The SHA-256 of bytes, on the thread that asks for it: browsers copy them there. */
export async function checksumHere(bytes) {
    return { sha256: await sha256Of(new Uint8Array(bytes)), bytes };
}
/**
 * Checks bytes; a size of -1 and an empty `sha256` are not.
 *
 * @throws ModelError `corrupted`; `unsupported` where the browser has no SHA-256
 */
export async function checkBytes(bytes, sizeBytes, sha256, name) {
    const { byteLength } = bytes;
    if (sizeBytes >= 0 && byteLength !== sizeBytes) {
        const expected = `the package was built with one of ${String(sizeBytes)}`;
        throw new ModelError('corrupted', `${name} has ${String(byteLength)} bytes, ${expected}`);
    }
    if (sha256 === '')
        return;
    const found = await sha256Of(bytes);
    if (found !== sha256)
        throw wrongContent(name, found, sha256);
}
function wrongContent(name, found, expected) {
    return new ModelError('corrupted', `${name} has sha256 ${found}, expected ${expected}`);
}
/**
 * The SHA-256 of bytes, in hexadecimal.
 *
 * @throws ModelError `unsupported` where the browser has none
 */
export async function sha256Of(bytes) {
    const { crypto } = globalThis;
    if (crypto?.subtle === undefined) {
        throw new ModelError('unsupported', 'files can be checked in pages from https: addresses or from localhost only');
    }
    const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
    return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
