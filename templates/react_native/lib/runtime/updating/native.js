// The folder of an updater in an app, on storage that is not backed up; native code writes to it.
import { ModelError, toModelError } from '../errors.js';
import { AppAttempts } from './appAttempts.js';
import { fetchFile } from './nativeDownload.js';
import { ask } from './nativeRequest.js';
const LOCKED_MS = 50;
/** Opens the folder of `channel` in an app. `android` is null on iOS; `app` says whether somebody sees the app. */
export function openStorage(channel, backend, storage, android, app) {
    const base = backend.platform === 'android' ? backend.about().cache : storage.storageFolder();
    const folder = `${base}/channels/${channel}`;
    return new NativePlatform(folder, backend, storage, android, app);
}
class NativePlatform {
    folder;
    backend;
    storage;
    android;
    /** Ends of what is done alone here, by name. */
    last = new Map();
    prepared = null;
    attempts;
    constructor(folder, backend, storage, android, app) {
        this.folder = folder;
        this.backend = backend;
        this.storage = storage;
        this.android = android;
        this.attempts = new AppAttempts(app, this);
    }
    async readText(name) {
        try {
            return await this.storage.readText(this.pathOf(name));
        }
        catch (reason) {
            const error = toModelError(reason);
            if (error.code === 'missing')
                return null;
            throw error;
        }
    }
    async writeText(name, text) {
        await this.prepare();
        await known(this.storage.writeText(this.pathOf(name), text));
    }
    async removeText(name) {
        await known(this.backend.removeFile(this.pathOf(name)));
    }
    async textNames() {
        const folders = ['', 'metadata/', 'releases/'];
        const names = await Promise.all(folders.map(async (folder) => (await this.namesIn(folder)).map((name) => folder + name)));
        return names.flat().filter((name) => name.endsWith('.json'));
    }
    hasFile({ sha256, sizeBytes }) {
        return known(this.storage.hasFile(this.fileOf(sha256), sizeBytes, sha256));
    }
    async fileNames() {
        const names = await this.namesIn('files');
        return [...new Set(names.map((name) => name.replace(/\..*$/, '')))];
    }
    async removeFile(sha256) {
        const path = this.fileOf(sha256);
        for (const each of [path, `${path}.part`, `${path}.new`])
            await known(this.backend.removeFile(each));
        await known(this.storage.removeTraces(this.backend.about().cache, sha256));
    }
    async download({ url, sha256, sizeBytes }, watcher) {
        await this.prepare();
        const path = this.fileOf(sha256);
        // A file of the right size may have other bytes.
        if (this.backend.fileSize(path) >= 0 && !(await this.hasFile({ sha256, sizeBytes })))
            await this.removeFile(sha256);
        await fetchFile({ url, path, sizeBytes, sha256 }, this.store(), watcher);
    }
    async adopt(file) {
        await this.prepare();
        const { path, offset } = await known(this.backend.locate(file.path, file.sizeBytes));
        await known(this.storage.copyFile(path, offset, file.sizeBytes, this.fileOf(file.sha256), file.sha256));
    }
    async patch({ source, packaged, delta, result }, signal) {
        // It takes less than a second for 100 MB: what is under way is not ended.
        if (signal?.aborted === true)
            throw new ModelError('cancelled', 'the update was cancelled');
        const path = this.fileOf(source);
        const from = packaged === null
            ? { path, offset: 0, sizeBytes: this.backend.fileSize(path) }
            : { ...(await known(this.backend.locate(packaged.path, packaged.sizeBytes))), sizeBytes: packaged.sizeBytes };
        if (from.sizeBytes < 0)
            throw new ModelError('missing', `${path}, which a delta is for, is not there`);
        const { sha256, sizeBytes } = result;
        await known(this.storage.applyDelta(from.path, from.offset, from.sizeBytes, this.fileOf(delta.sha256), this.fileOf(sha256), sizeBytes, sha256));
    }
    opening() {
        return { backend: this.backend, source: { folder: this.pathOf('files') } };
    }
    ask(...question) {
        return ask(...question);
    }
    freeBytes() {
        return known(Promise.resolve(this.storage.freeBytes(this.folder)));
    }
    sha256(bytes) {
        const isWhole = bytes.byteLength === bytes.buffer.byteLength;
        return known(this.storage.digest(isWhole ? bytes.buffer : bytes.slice().buffer));
    }
    randomId() {
        return this.storage.randomId();
    }
    async deviceState() {
        const [unmetered = -1, charging = -1] = this.android === null ? await known(this.storage.deviceState()) : ofAndroid(this.android);
        return { isUnmetered: answerOf(unmetered), isCharging: answerOf(charging) };
    }
    alone(name, work) {
        const before = this.last.get(name) ?? Promise.resolve();
        const done = before.then(() => this.locked(name, work));
        this.last.set(name, done.catch(() => undefined));
        return done;
    }
    async locked(name, work) {
        await this.prepare();
        const path = this.pathOf(`locks/${name.replace(/[^A-Za-z0-9._-]/g, '-')}`);
        let lock = 0;
        while ((lock = this.take(path)) === 0)
            await new Promise((resolve) => setTimeout(resolve, LOCKED_MS));
        try {
            return await work();
        }
        finally {
            this.storage.unlock(lock);
        }
    }
    take(path) {
        try {
            return this.storage.lock(path);
        }
        catch (reason) {
            throw toModelError(reason);
        }
    }
    /** Storage as native code writes downloads, and the folder is durable, too. */
    store() {
        const { backend, storage } = this;
        return {
            fileSize: (path) => backend.fileSize(path),
            writePart: (path, offset, bytes) => backend.writePart(path, offset, bytes),
            removeFile: (path) => backend.removeFile(path),
            finishPart: async (part, path, size, sha256) => {
                await backend.finishPart(part, path, size, sha256);
                await storage.synchronizeFolderOf(path);
            },
        };
    }
    prepare() {
        this.prepared ??= known(this.storage.prepareFolder(this.folder)).catch((reason) => {
            this.prepared = null;
            throw reason;
        });
        return this.prepared;
    }
    namesIn(folder) {
        return known(this.storage.fileNames(this.pathOf(folder)));
    }
    pathOf(name) {
        return `${this.folder}/${name}`;
    }
    fileOf(sha256) {
        return this.pathOf(`files/${sha256}`);
    }
}
/** Errors as the package's own. */
async function known(made) {
    try {
        return await made;
    }
    catch (reason) {
        throw toModelError(reason);
    }
}
function ofAndroid(android) {
    const { unmetered, charging } = android.deviceState();
    return [unmetered, charging];
}
function answerOf(number) {
    return number < 0 ? null : number === 1;
}
