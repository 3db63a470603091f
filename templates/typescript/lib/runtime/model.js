// A loaded model.
import { copied } from './copying.js';
import { ModelError, toModelError } from './errors.js';
import { tell } from './observing.js';
import { throwIfAborted } from './permitting.js';
import { testModel } from './selftest.js';
import { Serving } from './serving.js';
const MOST_CALLS = 64;
/**
 * A loaded model. Its memory is freed by `dispose`, not by the garbage collector.
 *
 * Runs may be requested at the same time: they take turns. Runs of different models are parallel.
 */
export class AnyModel {
    /** The model's name and version, the file that was opened, and the version of ONNX Runtime. */
    info;
    /**
     * The provider that started, which runs at least one node. Operators that it does not support run on the CPU. The policy
     * `retryOnCpu` makes it `cpu` after failures.
     */
    provider;
    /** Providers that were tried before `provider` and did not start, or failed, in this order, with the reasons. */
    fallbacks;
    /**
     * The share of each provider, the CPU included. Undefined where ONNX Runtime does not say: in a browser, and
     * of files in ORT format.
     */
    assignment;
    serving;
    queue;
    calls = 0;
    isDisposed = false;
    /** Models are made by `load` of a generated file. */
    constructor(outcome) {
        this.serving = new Serving(outcome);
        this.queue = outcome.options.queue ?? MOST_CALLS;
        ({ info: this.info, provider: this.provider, fallbacks: this.fallbacks } = this.serving.latest.about);
        this.assignment = outcome.assignment;
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
        const call = this.callOf(inputs, options);
        return this.hold(() => this.serve(call));
    }
    /**
     * Runs the model on `inputs` while the JavaScript thread waits: for models that take less than a frame. Every array is
     * read and written in place.
     *
     * @throws ModelError what `run` throws, and `unsupported` in a browser
     */
    runSync(inputs, options = {}) {
        this.checkAlive();
        const session = this.serving.now();
        return session.runSync(session.prepareSync(inputs, options.into ?? {}));
    }
    /**
     * Runs the model `runs` times on `inputs`, in a second session with ONNX Runtime's profiling on.
     *
     * @returns the path of the trace, a file in the app's cache that chrome://tracing and ui.perfetto.dev show
     * @throws ModelError what `run` throws, `bad-options`, and `unsupported` in a browser
     */
    async profile(inputs, runs = 10) {
        this.checkAlive();
        const given = this.kept(inputs);
        return this.serving.use((session) => session.profile(session.prepareSync(given, {}), runs));
    }
    /**
     * The model for worklets, such as frame processors of a camera: capture it in one, and call its `run` on any thread. It
     * ends with the model.
     *
     * @throws ModelError `disposed`, and `unsupported` in a browser
     */
    worklet() {
        this.checkAlive();
        return this.serving.now().worklet();
    }
    /**
     * Checks that the model computes on this device what it computed on the build machine: runs it on samples
     * from the package, and compares every output with its expected values. A file of the app's own has no samples.
     *
     * @throws ModelError, for example because the samples are not those that this package was built with
     */
    async selfTest() {
        this.checkAlive();
        // Not repeated on the CPU: the test is about the provider.
        const run = (inputs) => this.serving.use((session) => session.run(session.prepare(inputs, {}), undefined, false));
        try {
            return await testModel(this.serving.latest.outcome, run);
        }
        catch (thrown) {
            throw toModelError(thrown);
        }
    }
    /** Frees the model's memory, after the runs that were called for before. Every later call fails; a second one does nothing. */
    dispose() {
        if (this.isDisposed)
            return;
        this.isDisposed = true;
        this.serving.end();
        const { observer } = this.serving.latest.outcome.options;
        const { info } = this;
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
        return this.serve(this.callOf(inputs, options));
    }
    /** Checks inputs, and copies them if they are read again later. */
    callOf(inputs, { signal, into = {} }) {
        this.checkAlive();
        this.serving.prepare();
        const session = this.serving.latest;
        const prepared = session.prepare(inputs, into);
        throwIfAborted(signal);
        return { session, prepared, inputs: this.kept(inputs), into, signal };
    }
    /** Inputs as a later attempt reads them. */
    kept(inputs) {
        return this.serving.readsLater ? copied(inputs, this.serving.latest.outcome.backend.isNative) : inputs;
    }
    async serve({ session, prepared, inputs, into, signal }) {
        const outputs = await this.serving.run((each, isRetry) => {
            if (each === session)
                return each.run(prepared, signal, isRetry);
            throwIfAborted(signal);
            return each.run(each.prepare(inputs, into), signal, isRetry);
        }, signal);
        this.show();
        // The descriptor and the type come from the same signature.
        return outputs;
    }
    /** Another session may have been opened since. */
    show() {
        const { latest, fallbacks } = this.serving;
        const { info, provider } = latest.about;
        if (this.info !== info)
            Object.assign(this, { info, provider, fallbacks, assignment: latest.outcome.assignment });
    }
    checkAlive() {
        if (!this.isDisposed)
            return;
        throw this.error('disposed', 'was disposed of');
    }
    error(code, words) {
        return new ModelError(code, `${this.serving.latest.outcome.model.className} ${words}`);
    }
}
