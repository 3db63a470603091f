// Bytes of files where there are no folders: by address, by a function of the app, or in memory.
import { bytesInMemory, checkBytes, fetchToMemory } from './downloadMemory.js';
import { ModelError } from './errors.js';
/** Says where a file of the package lies: an address, or what `read` gets. */
export function locateFile({ models, read }, path) {
    if (models !== undefined) {
        const folder = models.endsWith('/') ? models : `${models}/`;
        return { path: absolute(folder + encodeURIComponent(path)), offset: 0 };
    }
    if (read !== undefined)
        return { path, offset: 0 };
    throw new ModelError('missing', `the address of ${path} is not set: copy the package's models to a folder of the page, and pass its address as ` +
        'setOnnxRuntime(ort, { models })');
}
function absolute(address) {
    const { location } = globalThis;
    return location === undefined ? address : new URL(address, location.href).href;
}
/** The bytes of a part, checked. */
export async function bytesOf(part, options) {
    const kept = bytesInMemory(part);
    const all = kept === undefined ? await read(part.path, options) : new Uint8Array(kept);
    return checkedPart(part, all);
}
/** The bytes of `all` that `part` is, checked. */
export async function checkedPart(part, all) {
    const end = part.size < 0 ? all.length : part.offset + part.size;
    const bytes = all.subarray(part.offset, end);
    await checkBytes(bytes, part.size, part.sha256, part.path || 'buffer');
    return bytes;
}
/** Every byte of a file. */
export async function read(path, options) {
    if (options.read === undefined) {
        const wanted = { url: absolute(path), sizeBytes: -1, sha256: '', mustBeSecure: false };
        return new Uint8Array(await fetchToMemory(wanted, { signal: undefined, onBytes: () => undefined }));
    }
    try {
        return (await options.read(path));
    }
    catch (reason) {
        throw new ModelError('missing', `${path} cannot be read: ${String(reason)}`, { cause: reason });
    }
}
