// Files in memory, for browsers: there is no folder that they could be kept in.
import { isSecure } from './downloadRequest.js';
import { ModelError } from './errors.js';
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
 * A file of the package: from what the browser kept of an earlier visit, else fetched, and then kept. It is checked either
 * way; what is damaged is fetched again.
 *
 * @throws ModelError as `fetchToMemory`
 */
export async function fetchOnce(wanted, watcher, kept) {
    if (kept === null || wanted.sha256 === '')
        return fetchToMemory(wanted, watcher);
    const found = await kept.find(wanted.sha256);
    if (found !== undefined) {
        if ((await sha256Of(new Uint8Array(found))) === wanted.sha256)
            return found;
        await kept.remove(wanted.sha256);
    }
    const bytes = await fetchToMemory(wanted, watcher);
    await kept.add(wanted.sha256, bytes);
    return bytes;
}
/**
 * Fetches a file and checks it.
 *
 * @throws ModelError `network`, `missing`, `corrupted` or `cancelled`
 */
export async function fetchToMemory(wanted, watcher) {
    try {
        const response = await fetch(wanted.url, watcher.signal === undefined ? {} : { signal: watcher.signal });
        if (wanted.mustBeSecure && !isSecure(response.url)) {
            throw new ModelError('network', `${wanted.url} leads to ${response.url}, which is not an https: address`);
        }
        if (!response.ok)
            throw refused(wanted.url, response.status);
        refusePage(response, wanted);
        const bytes = await bodyOf(response, wanted, watcher.onBytes);
        await checkBytes(new Uint8Array(bytes), wanted.sizeBytes, wanted.sha256, wanted.url);
        return bytes;
    }
    catch (reason) {
        if (reason instanceof ModelError)
            throw reason;
        if (watcher.signal?.aborted === true)
            throw new ModelError('cancelled', `the download of ${wanted.url} was cancelled`);
        throw new ModelError('network', `${wanted.url} cannot be fetched: ${String(reason)}${hint(wanted.url)}`, { cause: reason });
    }
}
/** Browsers do not say why they refuse a file; one of another origin is refused without its permission. */
function hint(url) {
    const { location } = globalThis;
    if (location?.origin === undefined || url.startsWith(`${location.origin}/`))
        return '';
    return '. It is on another origin than the page, which must answer with Access-Control-Allow-Origin';
}
function refused(url, status) {
    return new ModelError(status === 404 ? 'missing' : 'network', `${url} answers with status ${String(status)}`);
}
/** Servers of single-page apps answer with their page instead of 404. */
function refusePage({ headers }, { url, sizeBytes }) {
    if (sizeBytes < 0 || headers.get('content-type')?.startsWith('text/html') !== true)
        return;
    throw new ModelError('missing', `${url} is answered with a page of HTML: the file is not there`);
}
async function bodyOf(response, wanted, onBytes) {
    if (response.body === null || wanted.sizeBytes < 0)
        return response.arrayBuffer();
    const bytes = new Uint8Array(wanted.sizeBytes);
    const reader = response.body.getReader();
    let length = 0;
    for (;;) {
        const { done, value } = await reader.read();
        if (done)
            break;
        if (length + value.length > bytes.length) {
            await reader.cancel();
            throw wrongSize(wanted.url, `more than ${String(bytes.length)}`, bytes.length);
        }
        bytes.set(value, length);
        length += value.length;
        onBytes(length);
    }
    return length === bytes.length ? bytes.buffer : bytes.buffer.slice(0, length);
}
/**
 * Checks bytes; a size of -1 and an empty `sha256` are not.
 *
 * @throws ModelError `corrupted`; `unsupported` where the browser has no SHA-256
 */
export async function checkBytes(bytes, sizeBytes, sha256, name) {
    if (sizeBytes >= 0 && bytes.byteLength !== sizeBytes)
        throw wrongSize(name, String(bytes.byteLength), sizeBytes);
    if (sha256 === '')
        return;
    const found = await sha256Of(bytes);
    if (found !== sha256) {
        throw new ModelError('corrupted', `${name} has sha256 ${found}, expected ${sha256}`);
    }
}
function wrongSize(name, found, expected) {
    return new ModelError('corrupted', `${name} has ${found} bytes, the package was built with one of ${String(expected)}`);
}
async function sha256Of(bytes) {
    const { crypto } = globalThis;
    if (crypto?.subtle === undefined) {
        throw new ModelError('unsupported', 'files can be checked in pages from https: addresses or from localhost only');
    }
    const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
    return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
