// Asks for metadata of a channel, by XMLHttpRequest: React Native's fetch does not say how much has come.
import { isSecure } from '../downloadRequest.js';
import { ModelError } from '../errors.js';
/** For all of it: a server that sends a byte now and then must not hold an update for hours. */
const DOCUMENT_MS = 30_000;
const OK = 200;
/** `UpdatePlatform.ask`. The system follows redirects; their last address must be an `https:` one, too. */
export async function ask(url, limitBytes, signal) {
    const request = new XMLHttpRequest();
    request.open('GET', url);
    request.responseType = 'arraybuffer';
    // Kept answers are the updater's own.
    request.setRequestHeader('Cache-Control', 'no-cache');
    try {
        await answer(request, url, limitBytes, signal);
    }
    catch (reason) {
        request.abort();
        throw reason;
    }
    const { status, responseURL } = request;
    if (!isSecure(responseURL))
        throw insecure(url, responseURL);
    const bytes = status === OK ? new Uint8Array(request.response ?? new ArrayBuffer(0)) : new Uint8Array(0);
    if (bytes.byteLength > limitBytes)
        throw tooLong(url, limitBytes);
    return { status, bytes };
}
function answer(request, url, limitBytes, signal) {
    let end;
    let cancel = () => undefined;
    const ended = new Promise((resolve, reject) => {
        const fail = (words) => () => {
            reject(new ModelError('network', `${url} ${words}`));
        };
        cancel = () => {
            reject(new ModelError('cancelled', 'the update was cancelled'));
        };
        signal?.addEventListener('abort', cancel);
        if (signal?.aborted === true)
            cancel();
        request.onload = () => {
            resolve();
        };
        request.onerror = fail('cannot be reached');
        request.ontimeout = request.onerror;
        request.onabort = request.onerror;
        request.onprogress = (event) => {
            if (event.loaded > limitBytes)
                reject(tooLong(url, limitBytes));
        };
        end = setTimeout(fail('takes too long'), DOCUMENT_MS);
        if (signal?.aborted !== true)
            request.send();
    });
    return ended.finally(() => {
        clearTimeout(end);
        signal?.removeEventListener('abort', cancel);
    });
}
function tooLong(url, limitBytes) {
    return new ModelError('corrupted', `${url} has more than ${String(limitBytes)} bytes`);
}
function insecure(url, target) {
    return new ModelError('network', `${url} leads to ${target || 'an unknown address'}, which is not an https: address`);
}
