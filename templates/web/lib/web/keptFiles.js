// Pieces of files that the browser keeps between visits, by the SHA-256 of the file, in its Cache Storage.
import { sha256Of } from '../runtime/downloadMemory.js';
const PATH = '/mobpack/';
/** Headers of a piece: its SHA-256, and the ETag that it came with. */
const CHECKSUM = 'x-sha256';
const TAG = 'x-etag';
/** Keeps files of one package. Without room, or where a browser has no Cache Storage, files are fetched at each visit. */
export class CacheOfPackage {
    name;
    caches;
    /** SHA-256 of ONNX Runtime, which stays as long as any model does. */
    runtime;
    hasTold = false;
    constructor(packageName, runtime, caches) {
        this.name = `mobpack ${packageName}`;
        this.runtime = runtime;
        this.caches = caches;
    }
    async read(sha256, offset, into) {
        return this.tried('read', async (cache) => {
            const found = await cache.match(pathOf(sha256, offset));
            if (found === undefined)
                return undefined;
            return (await isReadInto(into, found)) ? (found.headers.get(TAG) ?? '') : undefined;
        });
    }
    async write(sha256, offset, piece, tag) {
        await this.tried('written', async (cache) => {
            const headers = { [CHECKSUM]: await sha256Of(piece), [TAG]: tag };
            await cache.put(pathOf(sha256, offset), new Response(piece, { headers }));
        });
    }
    async removeDamaged(sha256) {
        let isDamaged = false;
        await this.removeThose(async (cache, request) => {
            if (fileOf(request) !== sha256)
                return false;
            const found = await cache.match(request);
            const bytes = new Uint8Array((await found?.arrayBuffer()) ?? new ArrayBuffer(0));
            if ((await sha256Of(bytes)) === found?.headers.get(CHECKSUM))
                return false;
            isDamaged = true;
            return true;
        });
        return isDamaged;
    }
    async remove(sha256) {
        await this.removeThose((_, request) => fileOf(request) === sha256);
    }
    async retain(sha256s) {
        const wanted = sha256s.size === 0 ? sha256s : new Set([...sha256s, this.runtime]);
        await this.removeThose((_, request) => !wanted.has(fileOf(request)));
    }
    async removeThose(isUnwanted) {
        await this.tried('cleaned', async (cache) => {
            for (const request of await cache.keys()) {
                if (await isUnwanted(cache, request))
                    await cache.delete(request);
            }
        });
    }
    /** A failure here costs a download: a model is loaded all the same, and the page is told once. */
    async tried(done, use) {
        try {
            return await use(await this.caches.open(this.name));
        }
        catch (reason) {
            if (!this.hasTold)
                console.warn(`${this.name}: the cache of models cannot be ${done}: ${inWords(reason)}`);
            this.hasTold = true;
            return undefined;
        }
    }
}
/** Reads a response as it comes: whole pieces in memory of their own would have to be collected later. */
async function isReadInto(into, { body }) {
    const reader = body?.getReader();
    let length = 0;
    for (;;) {
        const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
        if (done)
            return length === into.length;
        if (length + value.length > into.length)
            return false;
        into.set(value, length);
        length += value.length;
    }
}
function pathOf(sha256, offset) {
    return `${PATH}${sha256}/${String(offset)}`;
}
/** The SHA-256 of the file that an entry is a piece of; empty for what this package has not written. */
function fileOf({ url }) {
    return new RegExp(`${PATH}([0-9a-f]{64})/\\d+$`).exec(url)?.[1] ?? '';
}
function inWords(reason) {
    const { name } = reason;
    if (name === 'QuotaExceededError')
        return 'this site has no room left in the browser, so files are fetched at each visit';
    return String(reason);
}
/** The browser's caches; null in pages that are not secure, and in Node. */
export function keptFilesOf(packageName, runtime) {
    const { caches } = globalThis;
    return caches === undefined ? null : new CacheOfPackage(packageName, runtime, caches);
}
