// Whether a source is one: in JavaScript, and in what comes from a server, nothing else says so.
import { isSecure } from './downloadRequest.js';
import { ModelError } from './errors.js';
const KINDS = ['url', 'folder', 'path', 'buffer', 'descriptor'];
const CHECKS = {
    url: checkUrl,
    folder: checkFolder,
    path: checkPath,
    buffer: checkBuffer,
    descriptor: checkDescriptor,
};
/**
 * Checks what an app says a model comes from.
 *
 * @throws ModelError `bad-options`; `unsupported` for files where there are none
 */
export function checkSource(source, platform) {
    if (source === 'bundled')
        return;
    const kinds = KINDS.filter((each) => typeof source === 'object' && source !== null && each in source);
    const [kind] = kinds;
    if (kind === undefined || kinds.length > 1)
        throw bad(`source is 'bundled', or has one of ${KINDS.join(', ')}`);
    if (platform === 'web' && (kind === 'folder' || kind === 'descriptor')) {
        throw new ModelError('unsupported', `a browser has no files for source.${kind}: use url or buffer`);
    }
    if (platform === 'node' && (kind === 'url' || kind === 'descriptor')) {
        throw new ModelError('unsupported', `under Node models have no source.${kind}: use folder, path or buffer`);
    }
    const given = source;
    CHECKS[kind](given, platform);
    const { sha256 } = given;
    if (sha256 !== undefined && !(typeof sha256 === 'string' && /^[0-9a-f]{64}$/i.test(sha256))) {
        throw bad(`source.sha256 is ${shown(sha256)}, which is not 64 hexadecimal digits`);
    }
}
function checkUrl({ url }) {
    if (typeof url === 'string' && isSecure(url) && /^[^?#]+\/$/.test(url))
        return;
    throw bad(`source.url is ${shown(url)}, which is not the https: address of a folder, with a / at its end`);
}
/** Windows has drives and servers as well. */
function isAbsolute(path, platform) {
    return /^(\/|file:\/\/\/)./.test(path) || (platform === 'node' && /^([a-z]:[\\/]|\\\\)/i.test(path));
}
function checkFolder({ folder }, platform) {
    if (typeof folder === 'string' && isAbsolute(folder, platform))
        return;
    throw bad(`source.folder is ${shown(folder)}, which is not an absolute path`);
}
function checkPath({ path }, platform) {
    if (typeof path === 'string' && (platform === 'web' ? path !== '' : isAbsolute(path, platform)))
        return;
    throw bad(`source.path is ${shown(path)}, which is not an absolute path`);
}
function checkBuffer({ buffer }) {
    // Not instanceof: a buffer may come from another realm, as it does under jest.
    const isBuffer = Object.prototype.toString.call(buffer) === '[object ArrayBuffer]';
    if (!isBuffer && !ArrayBuffer.isView(buffer))
        throw bad('source.buffer is neither an ArrayBuffer nor a view of one');
    if (buffer.byteLength === 0)
        throw bad('source.buffer is empty');
}
function checkDescriptor({ descriptor, offset = 0, size = 0 }) {
    for (const [name, value] of Object.entries({ descriptor, offset, size })) {
        if (Number.isSafeInteger(value) && value >= 0)
            continue;
        throw bad(`source.${name} is ${shown(value)}, which is not a whole number from 0 on`);
    }
}
function shown(value) {
    return typeof value === 'string' ? `'${value}'` : String(value);
}
function bad(message) {
    return new ModelError('bad-options', message);
}
