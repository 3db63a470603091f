// Opens models from the files that an updater has kept, on what runs all others.
import { replaced } from '../../runtime/backend.js';
import { keepInMemory } from '../../runtime/downloadMemory.js';
/** `inner`, which finds all files among those that are kept. */
export function keptBackend(inner, read) {
    const placed = async (part) => {
        const inMemory = { ...part };
        keepInMemory(inMemory, await read(part.sha256, part.size));
        return inMemory;
    };
    return replaced(inner, {
        // No address: what has none is not fetched.
        locate: (path) => Promise.resolve({ path: `kept/${path}`, offset: 0 }),
        open: async (request) => {
            const file = await placed(request.file);
            const weights = [];
            for (const part of request.weights)
                weights.push(await placed(part));
            return inner.open({ ...request, file, weights }, null);
        },
        readFile: async (_path, _offset, into, sha256) => {
            new Uint8Array(into).set(new Uint8Array(await read(sha256, into.byteLength)));
        },
    });
}
