// Runs the models of a package in a browser, or in Node.
import { bytesInMemory, checkBytes, fetchOnce, fetchToMemory } from '../runtime/downloadMemory.js';
import { ModelError } from '../runtime/errors.js';
import { cancellable, copied, throwIfCancelled, Times } from '../runtime/onnxruntimeRuns.js';
import { placedTensors, write } from '../runtime/onnxruntimeTensors.js';
import { LocalHost } from './engine.js';
import { isFile, readFile } from './files.js';
import { keptFilesOf } from './keptFiles.js';
import { isOfPage, threadsOf } from './site.js';
import { WorkerHost } from './workerHost.js';
const BUNDLED = 'onnxruntime/';
const MADE_BY_RUNTIME = [0, -1, 0];
const UNWATCHED = { signal: undefined, onBytes: () => undefined };
/** Starts ONNX Runtime when the first model is opened, once for all models of the package. */
export class WebBackend {
    platform = 'web';
    device = { chip: '', apiLevel: 0 };
    kept;
    packageName;
    site;
    options;
    threads;
    sessions = new Map();
    calls = new Map();
    outputs = new Map();
    /** Where ONNX Runtime runs, or will. */
    hosting = null;
    last = 0;
    constructor(site, options) {
        this.site = site;
        this.packageName = site.packageName;
        this.options = options;
        this.threads = threadsOf(options, this.scriptUrl());
        this.kept = options.cache === false ? null : keptFilesOf(site.packageName, site.binary.sha256);
    }
    about() {
        return { runtimeVersion: this.site.runtimeVersion, bundle: '', cache: '', threads: this.threads };
    }
    /** In the worker, where there is one: a browser copies what it computes checksums of. */
    checksum = (bytes) => this.madeHosting().host.checksum(bytes);
    locate(path, _size, url = '') {
        return Promise.resolve({ path: this.addressOf(`models/${path}`, url), offset: 0 });
    }
    probe(provider) {
        return this.madeHosting().host.probe(provider);
    }
    async open(request, model) {
        const { file, weights } = request;
        const bytes = model === null ? await bytesOf(file) : await given(file, model);
        const data = [];
        for (const part of weights)
            data.push(await bytesOf(part));
        const host = await this.started();
        // Whole and checked by now.
        const opened = await host.open({ ...request, file: checked(file), weights: weights.map(checked) }, bytes, data);
        const outputs = opened.outputs.map(({ name }) => name);
        // Another host counts its sessions anew.
        const session = this.next();
        this.sessions.set(session, { host, session: opened.session, inputs: opened.inputs.length, outputs, turn: Promise.resolve() });
        return { ...opened, session };
    }
    isLost(session) {
        return this.sessions.get(session)?.host.hasFailed === true;
    }
    abandon() {
        this.hosting?.host.abandon();
    }
    close(session) {
        const open = this.sessions.get(session);
        this.sessions.delete(session);
        void open?.turn.then(() => { open.host.close(open.session); });
    }
    async run(session, call, buffers, layout, texts, isTimed) {
        const open = this.sessions.get(session);
        if (open === undefined)
            throw new ModelError('disposed', `session ${String(session)} was closed`);
        const placed = placedTensors(buffers, layout);
        const inputs = placed.slice(0, open.inputs).map(copied);
        const targets = placed.slice(open.inputs);
        const request = {
            session: open.session,
            buffers: [...inputs.map(({ buffer }) => buffer), ...targets.map(() => new ArrayBuffer(0))],
            layout: [...inputs.flatMap(layoutOf), ...targets.flatMap(() => MADE_BY_RUNTIME)],
            texts,
        };
        const times = new Times(isTimed);
        const { outputs } = await this.inTurn(open, request, call, times);
        const { queued, duration } = times;
        outputs.forEach((made, index) => {
            const into = targets[index];
            if (into !== undefined && into.byteLength >= 0)
                write(open.outputs[index] ?? '', made, into);
        });
        const kept = this.next();
        this.outputs.set(kept, outputs);
        return { kept, shapes: outputs.map(({ shape }) => shape), texts: outputs.map((each) => each.texts), queued, duration };
    }
    /** A run that was cancelled before its turn is never asked of the host, which could not stop it. */
    async inTurn(open, request, call, times) {
        const controller = new AbortController();
        this.calls.set(call, controller);
        const ended = open.turn.then(async () => {
            throwIfCancelled(controller.signal);
            times.begin();
            const answer = await open.host.run(request);
            times.end();
            return answer;
        });
        open.turn = ended.catch(() => undefined);
        try {
            return await cancellable(ended, controller.signal);
        }
        finally {
            this.calls.delete(call);
        }
    }
    runSync() {
        throw new ModelError('unsupported', 'a browser has no runs that end at once: use run()');
    }
    profile() {
        return Promise.reject(new ModelError('unsupported', 'ONNX Runtime for the web writes no trace to a file'));
    }
    worklet() {
        throw new ModelError('unsupported', 'there are no worklets here: models run in a worker already');
    }
    onMemoryPressure() {
        return () => undefined;
    }
    isHot() {
        return false; // browsers do not tell
    }
    residentBytes() {
        return -1;
    }
    /** ONNX Runtime cannot end a run that is under way: it goes on, and its outputs are dropped. */
    cancel(call) {
        this.calls.get(call)?.abort();
    }
    allocate(sizeBytes) {
        return new ArrayBuffer(sizeBytes);
    }
    take(kept, output, into) {
        const bytes = this.outputs.get(kept)?.[output]?.bytes;
        if (bytes?.byteLength !== into.byteLength)
            throw new ModelError('bad-input', `no output ${String(output)} is kept`);
        new Uint8Array(into).set(bytes);
    }
    drop(kept) {
        this.outputs.delete(kept);
    }
    fileSize() {
        return -1;
    }
    async readFile(path, offset, into, sha256) {
        const size = into.byteLength;
        const bytes = await bytesOf({ name: '', path, offset, size, sha256, endsSha256: '' });
        new Uint8Array(into).set(new Uint8Array(bytes));
    }
    writePart(path) {
        return noFolders(path);
    }
    finishPart(part) {
        return noFolders(part);
    }
    removeFile(path) {
        return noFolders(path);
    }
    makeFolder(path) {
        return noFolders(path);
    }
    /** Where a file is: in the copy of the package that the page has named, or where the bundler put it. */
    addressOf(path, url) {
        const { base } = this.options;
        if (base === undefined)
            return url;
        const { location } = globalThis;
        return new URL(base + path, location?.href).href;
    }
    next() {
        this.last += 1;
        return this.last;
    }
    started() {
        const hosting = this.madeHosting();
        hosting.starting ??= this.start(hosting.host).catch((reason) => {
            hosting.starting = null; // the next model tries again
            throw reason;
        });
        return hosting.starting;
    }
    async start(host) {
        const { binary } = this.site;
        const { sizeBytes, sha256 } = binary;
        const url = this.addressOf(BUNDLED + nameOf(binary.url()), binary.url());
        const content = isFile(url)
            ? await readFile(url, sizeBytes, sha256)
            : await fetchOnce({ url, sizeBytes, sha256, mustBeSecure: false }, UNWATCHED, this.kept, this.checksum);
        const request = { script: this.scriptUrl(), binary: content, threads: this.threads };
        try {
            await host.start(request);
            return host;
        }
        catch (reason) {
            // The next model gets another one.
            if (this.hosting?.host === host)
                this.hosting = null;
            host.end();
            throw reason;
        }
    }
    /** One that has failed is replaced. */
    madeHosting() {
        if (this.hosting === null || this.hosting.host.hasFailed) {
            this.hosting = { host: this.hasWorker() ? this.workerHost() : new LocalHost(), starting: null };
        }
        return this.hosting;
    }
    workerHost() {
        try {
            return new WorkerHost(this.makeWorker());
        }
        catch (reason) {
            throw new ModelError('host', `no worker can be started here: ${String(reason)}`, { cause: reason });
        }
    }
    scriptUrl() {
        const url = this.site.script();
        return this.addressOf(BUNDLED + nameOf(url), url);
    }
    hasWorker() {
        return this.options.worker !== false && 'Worker' in globalThis;
    }
    makeWorker() {
        if (this.options.base !== undefined)
            return workerAt(this.addressOf('lib/web/worker.js', ''));
        const script = this.scriptUrl();
        if (isOfPage(script))
            return this.site.makeWorker();
        return workerAt(new URL('../lib/web/worker.js', script).href);
    }
}
/** Browsers start no worker from another origin, such as a CDN, but one of the page's own that imports it. */
function workerAt(url) {
    if (isOfPage(url))
        return new Worker(url, { type: 'module' });
    const imports = new Blob([`import ${JSON.stringify(url)};`], { type: 'text/javascript' });
    return new Worker(URL.createObjectURL(imports), { type: 'module' });
}
function nameOf(url) {
    return url.slice(url.lastIndexOf('/') + 1);
}
/** Memory that the app has given is copied: the host takes what it gets. */
async function given({ path, offset, size, sha256 }, model) {
    if (path !== '')
        return model;
    const bytes = model.slice(offset, size < 0 ? undefined : offset + size);
    await checkBytes(new Uint8Array(bytes), size, sha256, 'buffer');
    return bytes;
}
/** The bytes of a part: fetched a moment ago, or read from Node's disk. */
async function bytesOf(part) {
    const inMemory = bytesInMemory(part);
    if (inMemory !== undefined)
        return inMemory;
    const { path, size, sha256 } = part;
    if (isFile(path))
        return readFile(path, size, sha256);
    return fetchToMemory({ url: path, sizeBytes: size, sha256, mustBeSecure: false }, UNWATCHED);
}
function checked(part) {
    return { ...part, offset: 0, size: -1, sha256: '', endsSha256: '' };
}
function layoutOf({ byteOffset, byteLength, shape }) {
    return [byteOffset, byteLength, shape.length, ...shape];
}
function noFolders(path) {
    return Promise.reject(new ModelError('unsupported', `${path} cannot be written: there are no folders here`));
}
