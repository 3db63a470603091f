// What runs models by ONNX Runtime's JavaScript API.
import { ModelError, toModelError } from './errors.js';
import { bytesOf, checkedPart, locateFile, read } from './onnxruntimeFiles.js';
import { Runner, Times } from './onnxruntimeRuns.js';
const MOST_THREADS = 4;
const ERRORS = 3;
/** Sessions and outputs that are kept have numbers, as in native code. */
export class OnnxRuntimeBackend {
    platform = 'web';
    device = { chip: '', apiLevel: 0 };
    kept = null;
    ort;
    options;
    runners = new Map();
    calls = new Map();
    outputs = new Map();
    ownsInputs;
    last = 0;
    /** With `ownsInputs`, callers leave the inputs of runs as they are: they are not copied. */
    constructor(ort, options, ownsInputs = false) {
        // Its own types are overloads of which this is a part.
        this.ort = ort;
        this.options = options;
        this.ownsInputs = ownsInputs;
    }
    about() {
        const { versions } = this.ort.env;
        const { navigator } = globalThis;
        return {
            runtimeVersion: versions['web'] ?? versions['node'] ?? versions['common'] ?? '',
            bundle: '',
            cache: '',
            threads: Math.min(navigator?.hardwareConcurrency ?? 1, MOST_THREADS),
        };
    }
    locate(path) {
        return Promise.resolve().then(() => locateFile(this.options, path));
    }
    onMemoryPressure() {
        return () => undefined;
    }
    async open(request, model) {
        const given = await this.given(request, model);
        const session = await this.create(given.model, sessionOptions(request, given.externalData));
        const number = this.next();
        this.runners.set(number, new Runner(this.ort, session, this.ownsInputs));
        return {
            session: number,
            inputs: session.inputMetadata.map(tensorInfo),
            outputs: session.outputMetadata.map(tensorInfo),
            sizeBytes: given.sizeBytes,
            assignment: null,
        };
    }
    close(session) {
        this.runners.get(session)?.release();
        this.runners.delete(session);
    }
    async run(session, call, buffers, layout, texts, isTimed) {
        const runner = this.runners.get(session);
        if (runner === undefined)
            throw new ModelError('disposed', `session ${String(session)} was closed`);
        const controller = new AbortController();
        this.calls.set(call, controller);
        try {
            const times = new Times(isTimed);
            const produced = await runner.run({ buffers, layout, texts, signal: controller.signal, times });
            return this.keep(produced, times);
        }
        finally {
            this.calls.delete(call);
        }
    }
    runSync() {
        throw new ModelError('unsupported', 'ONNX Runtime for JavaScript has no runs that end at once: use run()');
    }
    profile() {
        return Promise.reject(new ModelError('unsupported', 'ONNX Runtime for JavaScript writes no trace to a file'));
    }
    worklet() {
        throw new ModelError('unsupported', 'there are no worklets here');
    }
    isHot() {
        return false; // browsers do not tell
    }
    residentBytes() {
        return -1;
    }
    cancel(call) {
        this.calls.get(call)?.abort();
    }
    allocate(sizeBytes) {
        return new ArrayBuffer(sizeBytes);
    }
    /** The outputs of a run, where they lie. */
    produced(kept) {
        return this.outputs.get(kept) ?? [];
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
        const all = await read(path, this.options);
        const size = into.byteLength;
        if (all.length < offset + size)
            throw new ModelError('unreadable', `${path} has ${String(all.length)} bytes`);
        new Uint8Array(into).set(await checkedPart({ name: '', path, offset, size, sha256, endsSha256: '' }, all));
    }
    writePart(path) {
        return noFiles(path);
    }
    finishPart(part) {
        return noFiles(part);
    }
    removeFile(path) {
        return noFiles(path);
    }
    makeFolder(path) {
        return noFiles(path);
    }
    /** A checked model as ONNX Runtime opens it. */
    async given({ file, weights }, model) {
        const bytes = model === null ? await bytesOf(file, this.options) : await checkedPart(file, new Uint8Array(model));
        const externalData = [];
        for (const part of weights)
            externalData.push({ path: part.name, data: await bytesOf(part, this.options) });
        const sizeBytes = externalData.reduce((total, { data }) => total + data.length, bytes.length);
        return { model: bytes, externalData, sizeBytes };
    }
    async create(model, options) {
        try {
            return await this.ort.InferenceSession.create(model, options);
        }
        catch (reason) {
            throw toModelError(reason);
        }
    }
    /** Outputs with memory of the app need not be kept; nobody takes them. */
    keep(produced, { queued, duration }) {
        const kept = this.next();
        this.outputs.set(kept, produced);
        const [shapes, texts] = [produced.map((each) => each.shape), produced.map((each) => each.texts)];
        return { kept, shapes, texts, queued, duration };
    }
    next() {
        this.last += 1;
        return this.last;
    }
}
function sessionOptions(request, externalData) {
    const { provider, threads } = request;
    const name = provider === '' ? 'cpu' : provider.toLowerCase();
    const provided = entries(request.providerKeys, request.providerValues);
    const settings = Object.entries(entries(request.settingKeys, request.settingValues));
    const own = `ep.${name}executionprovider.`;
    const ofProvider = settings.filter(([key]) => key.startsWith(own)).map(([key, value]) => [key.slice(own.length), value]);
    return {
        // Alone: of several, those that are not there would be left out, and nobody would know. Settings of the session come
        // after it has read its own.
        executionProviders: [{ ...provided, ...Object.fromEntries(ofProvider), name }],
        extra: Object.fromEntries(settings.filter(([key]) => !key.startsWith(own))),
        logSeverityLevel: ERRORS, // its warnings are about nodes that a provider leaves to the CPU
        ...(threads > 0 ? { intraOpNumThreads: threads } : {}),
        ...(externalData.length > 0 ? { externalData } : {}),
    };
}
function entries(keys, values) {
    return Object.fromEntries(keys.map((key, index) => [key, values[index] ?? '']));
}
function tensorInfo({ name, type, shape }) {
    const sizes = (shape ?? []).map((size) => (typeof size === 'number' && size >= 0 ? size : -1));
    return { name, type: type ?? '', shape: sizes };
}
function noFiles(path) {
    return Promise.reject(new ModelError('unsupported', `${path} cannot be written: there are no folders here`));
}
