// A loaded model.
import { newArray } from './elements.js';
import { ModelError, toModelError } from './errors.js';
import { sharedArray } from './memory.js';
import { observeRun, observeRunSync, tell } from './observing.js';
import { throwIfAborted } from './permitting.js';
import { profileSession } from './profiling.js';
import { Runs } from './running.js';
import { testModel } from './selftest.js';
const MOST_CALLS = 64;
/**
 * A loaded model. Its memory is freed by `dispose`, not by the garbage collector.
 *
 * Runs may be requested at the same time: they take turns. Runs of different models are parallel.
 */
export class Model {
    /** The model's name and version, the file that was opened, and the version of ONNX Runtime. */
    info;
    /** The provider that started, which runs at least one node. Operators that it does not support run on the CPU. */
    provider;
    /** Providers that were tried before `provider` and did not start, in this order, with the reasons. */
    fallbacks;
    /**
     * What each provider runs of the model, the CPU included. Undefined where ONNX Runtime does not say: in a browser, and
     * of files in ORT format.
     */
    assignment;
    outcome;
    backend;
    session;
    runs;
    observer;
    queue;
    calls = 0;
    isDisposed = false;
    /** Models are made by `load` of a generated file. */
    constructor(outcome) {
        const { model, backend, about, opened, file, provider, fallbacks, assignment, options } = outcome;
        this.info = {
            name: model.name,
            version: model.version,
            file: file.path,
            sha256: file.sha256,
            sizeBytes: opened.sizeBytes,
            onnxRuntimeVersion: about.runtimeVersion,
        };
        this.provider = provider;
        this.fallbacks = fallbacks;
        this.assignment = assignment;
        this.outcome = outcome;
        this.queue = options.queue ?? MOST_CALLS;
        this.observer = options.observer;
        this.backend = backend;
        this.session = opened.session;
        this.runs = new Runs(model, opened);
    }
    /**
     * Runs the model on `inputs`, away from the JavaScript thread.
     *
     * Arrays of JavaScript are copied before this returns, and may be changed right after it; results are copied to those
     * given as `into` when the run ends. Arrays over native memory, as `allocate` makes them, are read and written where
     * they lie, with whatever offset and length: until the promise is settled inputs must stay as they are, and memory
     * given as `into` must not be used.
     *
     * @throws ModelError `bad-input` for tensors of another type, length or shape; `disposed`; `busy`; `cancelled`;
     * `runtime`
     */
    async run(inputs, options = {}) {
        const prepared = this.prepareShared(inputs, options);
        return this.hold(() => this.runPrepared(prepared, options.signal));
    }
    /**
     * Runs the model on `inputs` while the JavaScript thread waits: for models that take less than a frame. Every array is
     * read and written in place.
     *
     * @throws ModelError what `run` throws, and `unsupported` in a browser
     */
    runSync(inputs, options = {}) {
        const prepared = this.prepare(inputs, options.into ?? {}, newArray);
        const { observer } = this;
        const ran = observer === undefined
            ? this.callNativeSync(prepared)
            : observeRunSync(observer, this, () => this.callNativeSync(prepared));
        return this.results(prepared, ran);
    }
    /**
     * Runs the model `runs` times on `inputs`, in a second session with ONNX Runtime's profiling on.
     *
     * @returns the path of the trace, a file in the app's cache that chrome://tracing and ui.perfetto.dev show
     * @throws ModelError what `run` throws, `bad-options`, and `unsupported` in a browser
     */
    async profile(inputs, runs = 10) {
        const prepared = this.prepare(inputs, {}, newArray);
        return profileSession(this.backend, this.session, this.info, prepared, runs);
    }
    /**
     * The model for worklets, such as frame processors of a camera: capture it in one, and call its `run` on any thread. It
     * ends with the model.
     *
     * @throws ModelError `disposed`, and `unsupported` in a browser
     */
    worklet() {
        this.checkAlive();
        const { inputs, outputs } = this.runs.keys();
        return this.backend.worklet(this.session, inputs, outputs);
    }
    /**
     * Checks that the model computes on this device what it computed on the build machine: runs it on samples
     * from the package, and compares every output with its expected values. A file of the app's own has no samples.
     *
     * @throws ModelError, for example because the samples are not those that this package was built with
     */
    async selfTest() {
        this.checkAlive();
        const run = (inputs) => this.run(inputs);
        try {
            return await testModel(this.outcome, run);
        }
        catch (thrown) {
            throw toModelError(thrown);
        }
    }
    /** Frees the model's memory, after the runs that are under way. Every later call fails; a second one does nothing. */
    dispose() {
        if (this.isDisposed)
            return;
        this.isDisposed = true;
        this.backend.close(this.session);
        const { observer, info } = this;
        if (observer !== undefined)
            tell(() => observer.onRelease?.({ model: info.name, reason: 'close' }));
    }
    /**
     * Counts a call until it has ended.
     *
     * @throws ModelError `busy`
     */
    async hold(call) {
        if (this.calls >= this.queue)
            throw this.error('busy', 'is busy: its queue is full');
        this.calls += 1;
        try {
            return await call();
        }
        finally {
            this.calls -= 1;
        }
    }
    /** `run` of a call that is counted already. */
    async runHeld(inputs, options) {
        return this.runPrepared(this.prepareShared(inputs, options), options.signal);
    }
    prepareShared(inputs, { signal, into = {} }) {
        const prepared = this.prepare(inputs, into, (type, count) => sharedArray(this.backend, type, count));
        throwIfAborted(signal);
        return prepared;
    }
    async runPrepared(prepared, signal) {
        const running = this.callNative(prepared, signal);
        const ran = await (this.observer === undefined ? running : observeRun(this.observer, this, running));
        return this.results(prepared, ran);
    }
    prepare(inputs, into, makeArray) {
        this.checkAlive();
        return this.runs.prepare(inputs, into, makeArray);
    }
    checkAlive() {
        if (!this.isDisposed)
            return;
        throw this.error('disposed', 'was disposed of');
    }
    error(code, words) {
        return new ModelError(code, `${this.outcome.model.className} ${words}`);
    }
    async callNative({ buffers, layout, texts }, signal) {
        const call = nextCall();
        const cancel = () => {
            this.backend.cancel(call);
        };
        signal?.addEventListener('abort', cancel);
        try {
            return await this.backend.run(this.session, call, buffers, layout, texts, this.observer !== undefined);
        }
        catch (thrown) {
            throw toModelError(thrown);
        }
        finally {
            signal?.removeEventListener('abort', cancel);
        }
    }
    callNativeSync({ buffers, layout, texts }) {
        try {
            return this.backend.runSync(this.session, buffers, layout, texts);
        }
        catch (thrown) {
            throw toModelError(thrown);
        }
    }
    results(prepared, ran) {
        // The descriptor and the type come from the same signature.
        return this.runs.read(this.backend, prepared, ran);
    }
}
let calls = 0;
function nextCall() {
    calls += 1;
    return calls;
}
