// Whether a source is one: in JavaScript, and in what comes from a server, nothing else says so.
import { isSecure } from './downloadRequest.js';
import { ModelError } from './errors.js';
/**
 * Checks what an app says a model comes from.
 *
 * @throws ModelError `bad-options`
 */
export function checkSource(source, platform) {
    if (source === 'bundled')
        return;
    const kinds = ['url', 'path', 'buffer'].filter((kind) => typeof source === 'object' && source !== null && kind in source);
    if (kinds.length !== 1)
        throw bad(`source is 'bundled', or has one of url, path and buffer`);
    const { url, path, buffer, sha256 } = source;
    if (kinds[0] === 'url')
        checkUrl(url);
    if (kinds[0] === 'path')
        checkPath(path, platform);
    if (kinds[0] === 'buffer')
        checkBuffer(buffer);
    if (sha256 !== undefined && !(typeof sha256 === 'string' && /^[0-9a-f]{64}$/i.test(sha256))) {
        throw bad(`source.sha256 is ${shown(sha256)}, which is not 64 hexadecimal digits`);
    }
}
function checkUrl(url) {
    if (typeof url === 'string' && isSecure(url) && /^[^?#]+\/$/.test(url))
        return;
    throw bad(`source.url is ${shown(url)}, which is not the https: address of a folder, with a / at its end`);
}
function checkPath(path, platform) {
    const isPath = typeof path === 'string' && path !== '';
    if (isPath && (platform === 'web' || path.startsWith('/') || path.startsWith('file:///')))
        return;
    throw bad(`source.path is ${shown(path)}, which is not an absolute path`);
}
function checkBuffer(buffer) {
    // Not instanceof: a buffer may come from another realm, as it does under jest.
    const isBuffer = Object.prototype.toString.call(buffer) === '[object ArrayBuffer]';
    if (!isBuffer && !ArrayBuffer.isView(buffer))
        throw bad('source.buffer is neither an ArrayBuffer nor a view of one');
    if (buffer.byteLength === 0)
        throw bad('source.buffer is empty');
}
function shown(value) {
    return typeof value === 'string' ? `'${value}'` : String(value);
}
function bad(message) {
    return new ModelError('bad-options', message);
}
