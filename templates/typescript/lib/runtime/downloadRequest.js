// One request for a piece of a file, by XMLHttpRequest: React Native's fetch has no bytes before all of a body is there.
import { ModelError } from './errors.js';
const LEAST_BYTES_PER_MS = 16;
const EARLY_MS = 20;
/** For a file, before bytes earn more. */
export const FILE_MS = 120_000;
/** The end of a download: a server that sends a byte now and then must not hold it for hours. */
export class Deadline {
    began = Date.now();
    ms;
    from;
    most;
    /** @param from - bytes that are there already: those beyond them earn more than the `ms` */
    constructor(ms, from) {
        this.ms = ms;
        this.from = from;
        this.most = from;
    }
    /** The file has come up to byte `size`: what comes twice earns nothing. */
    reached(size) {
        this.most = Math.max(this.most, size);
    }
    /** How long to wait for the next bytes: `stallMs`, or a little beyond the end, because timers may be early. */
    waitMs(stallMs) {
        return Math.min(stallMs, Math.max(0, this.leftMs()) + EARLY_MS);
    }
    /** @throws ModelError `network` after the end */
    check(url) {
        if (this.leftMs() <= 0)
            throw new ModelError('network', `${url} takes too long`);
    }
    leftMs() {
        return this.began + this.ms + (this.most - this.from) / LEAST_BYTES_PER_MS - Date.now();
    }
}
/** No answer, or none that can be used: the same request may succeed later. */
export class Interruption extends Error {
}
/** The server no longer has the file that the first pieces are of. */
export class FileChanged extends Error {
}
const HEADERS_RECEIVED = 2;
/** Answers of servers that are busy, or have an error that may pass. */
export const PASSING = new Set([408, 425, 429, 500, 502, 503, 504]);
/**
 * Asks for a piece.
 *
 * @throws Interruption and FileChanged; ModelError `cancelled`, `corrupted` or `network` where asking again is no use
 */
export async function requestPiece(wanted, waiting) {
    const request = new XMLHttpRequest();
    request.open('GET', wanted.url);
    request.responseType = 'arraybuffer';
    for (const [name, value] of headersOf(wanted))
        request.setRequestHeader(name, value);
    try {
        await answer(request, wanted, waiting);
        return pieceOf(request, wanted);
    }
    catch (reason) {
        request.abort();
        throw reason;
    }
}
function headersOf(wanted) {
    const last = wanted.offset + wanted.length - 1;
    // Compressed on its way, a piece would be one of the compressed file.
    const headers = [
        ['Range', `bytes=${String(wanted.offset)}-${String(last)}`],
        ['Accept-Encoding', 'identity'],
    ];
    if (isStrong(wanted.tag))
        headers.push(['If-Range', wanted.tag]);
    return headers;
}
function isStrong(tag) {
    return tag !== '' && !tag.startsWith('W/');
}
/** Sends the request; ends when all of the answer is there. */
function answer(request, wanted, waiting) {
    const { signal, stallMs, deadline } = waiting;
    let stall;
    let cancel = () => undefined;
    const ended = new Promise((resolve, reject) => {
        const watch = () => {
            clearTimeout(stall);
            stall = setTimeout(() => {
                reject(new Interruption(`${wanted.url} sent nothing for ${String(stallMs)} ms`));
            }, deadline.waitMs(stallMs));
        };
        const interrupt = () => {
            reject(new Interruption(`${wanted.url} cannot be reached`));
        };
        cancel = () => {
            reject(new ModelError('cancelled', `the download of ${wanted.url} was cancelled`));
        };
        signal.addEventListener('abort', cancel);
        if (signal.aborted)
            cancel();
        request.onload = () => {
            resolve();
        };
        request.onerror = interrupt;
        request.ontimeout = interrupt;
        request.onabort = interrupt;
        request.onreadystatechange = () => {
            const found = request.readyState === HEADERS_RECEIVED ? refusal(request, wanted) : null;
            if (found !== null)
                reject(found);
        };
        request.onprogress = (event) => {
            deadline.reached(wanted.offset + event.loaded);
            watch();
            // Where an answer has no length, only its bytes tell that it is of another file.
            if (event.loaded > wanted.sizeBytes)
                reject(longer(wanted));
            else
                waiting.onBytes(event.loaded);
        };
        watch();
        request.send();
    });
    return ended.finally(() => {
        clearTimeout(stall);
        signal.removeEventListener('abort', cancel);
    });
}
/** Why the body need not be waited for. React Native knows the address only after the headers. */
function refusal(request, wanted) {
    const { responseURL, status } = request;
    if (responseURL && !isSecure(responseURL))
        return insecure(wanted.url, responseURL);
    if (status === 206)
        return wrongRange(request, wanted);
    if (status === 200)
        return wrongLength(request, wanted);
    if (status === 416)
        return new FileChanged(`${wanted.url} has no byte ${String(wanted.offset)}`);
    if (PASSING.has(status) || status === 0)
        return new Interruption(`${wanted.url} answers ${String(status)}`);
    return new ModelError('network', `${wanted.url} answers with status ${String(status)}`);
}
function wrongRange(request, wanted) {
    const tag = request.getResponseHeader('ETag') ?? '';
    if (wanted.tag !== '' && tag !== wanted.tag)
        return new FileChanged(`${wanted.url} is another file now`);
    const range = /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(request.getResponseHeader('Content-Range') ?? '');
    if (range === null)
        return new Interruption(`${wanted.url} does not say which bytes it sends`);
    if (range[3] !== '*' && Number(range[3]) !== wanted.sizeBytes)
        return otherFile(wanted, Number(range[3]));
    if (Number(range[1]) === wanted.offset)
        return null;
    return new Interruption(`${wanted.url} sends other bytes than it was asked for`);
}
/** Size of a whole file. Where it comes compressed, its length says nothing. */
function wrongLength(request, wanted) {
    const length = request.getResponseHeader('Content-Length');
    const isAsItIs = (request.getResponseHeader('Content-Encoding') ?? 'identity') === 'identity';
    if (length === null || !isAsItIs || Number(length) === wanted.sizeBytes)
        return null;
    return otherFile(wanted, Number(length));
}
function otherFile(wanted, foundBytes) {
    const expected = `the package was built with one of ${String(wanted.sizeBytes)}`;
    return new ModelError('corrupted', `${wanted.url} is a file of ${String(foundBytes)} bytes, ${expected}`);
}
function longer({ url, sizeBytes }) {
    return new ModelError('corrupted', `${url} sends more than the ${String(sizeBytes)} bytes of the file that is wanted`);
}
/** The bytes of an answer that has ended. */
function pieceOf(request, wanted) {
    const found = refusal(request, wanted);
    if (found !== null)
        throw found;
    // Where the platform does not say what it was redirected to, nobody knows that it was secure.
    if (!isSecure(request.responseURL))
        throw insecure(wanted.url, request.responseURL);
    const bytes = request.response;
    const isWhole = request.status === 200;
    const expected = isWhole ? wanted.sizeBytes : wanted.length;
    const length = bytes?.byteLength ?? 0;
    if (bytes === null || (isWhole ? length !== expected : length === 0 || length > expected)) {
        throw new Interruption(`${wanted.url} sent ${String(length)} bytes instead of ${String(expected)}`);
    }
    return { bytes, offset: isWhole ? 0 : wanted.offset, tag: request.getResponseHeader('ETag') ?? '' };
}
/** Whether nobody on the way can read or change what is sent. */
export function isSecure(address) {
    return /^https:\/\//i.test(address ?? '');
}
function insecure(url, target) {
    return new ModelError('network', `${url} leads to ${target || 'an unknown address'}, which is not an https: address`);
}
