// What a package for the web consists of, and what a page says about it.
import { ModelError } from '../runtime/errors.js';
const KEYS = {
    base: 'string',
    worker: 'boolean',
    threads: 'number',
    cache: 'boolean',
};
const MOST_THREADS = 4;
/** @throws ModelError `bad-options` */
export function checkPageOptions(options) {
    if (typeof options !== 'object' || options === null)
        throw bad(`options are ${String(options)}, not an object`);
    for (const [name, value] of Object.entries(options)) {
        const type = KEYS[name];
        if (type === undefined)
            throw bad(`unknown option '${name}': there are ${Object.keys(KEYS).join(', ')}`);
        if (typeof value !== type)
            throw bad(`${name} is ${String(value)}, which is no ${type}`);
    }
    const { base = '/', threads = 1 } = options;
    if (!base.endsWith('/'))
        throw bad(`base is '${base}', which does not end in /`);
    if (!Number.isInteger(threads) || threads < 1)
        throw bad(`threads is ${String(threads)}, which is no number from 1 on`);
}
function bad(message) {
    return new ModelError('bad-options', message);
}
/** Whether an address is of the page's origin. A program without a page, such as Node's, has files alone. */
export function isOfPage(url) {
    const { location } = globalThis;
    return location === undefined || new URL(url).origin === location.origin;
}
/**
 * Threads that ONNX Runtime can have, whose JavaScript is at `script`: without isolation browsers share no memory between
 * workers, and ONNX Runtime starts no thread from another origin.
 */
export function threadsOf({ threads }, script) {
    const { crossOriginIsolated, navigator } = globalThis;
    if (crossOriginIsolated === true && isOfPage(script)) {
        return threads ?? Math.min(navigator?.hardwareConcurrency ?? 1, MOST_THREADS);
    }
    if (threads !== undefined && threads > 1) {
        const reason = isOfPage(script)
            ? 'a page that is cross-origin isolated: serve it with the headers Cross-Origin-Opener-Policy: same-origin and ' +
                'Cross-Origin-Embedder-Policy: require-corp'
            : `ONNX Runtime on the page's own origin, and it is at ${script}: setUp({ base }) says where a copy of the package is`;
        console.warn(`${String(threads)} threads need ${reason}. Models run on one thread`);
    }
    return 1;
}
