// From the address of a picture to its pixels, decoded by the system on a thread of its own.
import { ModelError, toModelError } from '../errors.js';
/** @throws ModelError as `pictureFrom` of the package's `image` says */
export async function decodedPicture(backend, { android, apple }, uri, options) {
    const longest = maxSizeOf(uri, options);
    try {
        if (backend.platform === 'android' && android !== null) {
            return await readPicture(backend, await android.decode(uri, longest));
        }
        if (backend.platform === 'ios' && apple !== null) {
            return pictureOf((await apple.decode(uri, longest)));
        }
    }
    catch (thrown) {
        throw toModelError(thrown);
    }
    throw new ModelError('unsupported', `nothing decodes pictures on ${backend.platform}`);
}
/** Checks what an app asks for. Without the option its answer is 0. */
export function maxSizeOf(uri, { maxSize = 0 }) {
    if (typeof uri !== 'string' || uri === '') {
        throw new ModelError('bad-input', `the address of a picture is a string, found ${String(uri)}`);
    }
    if (typeof maxSize === 'number' && Number.isInteger(maxSize) && maxSize >= 0 && maxSize < 2 ** 31)
        return maxSize;
    throw new ModelError('bad-options', `maxSize is a whole number of pixels, found ${String(maxSize)}`);
}
async function readPicture(backend, { path, ...pixels }) {
    try {
        const data = backend.allocate(4 * pixels.width * pixels.height);
        await backend.readFile(path, 0, data, '');
        return pictureOf({ ...pixels, data });
    }
    finally {
        await backend.removeFile(path);
    }
}
function pictureOf({ data, width, height, orientation }) {
    return { data, width, height, format: 'rgba', orientation: orientation };
}
