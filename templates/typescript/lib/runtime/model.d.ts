import type { Provider } from './descriptor.js';
import type { Fallback } from './observer.js';
import type { Outcome } from './opening.js';
import type { AsyncRunOptions, Info, ProviderAssignment, RunOptions } from './options.js';
import { type SelfTest } from './selftest.js';
import type { Targets } from './tensor.js';
/** A model on threads of worklets: an object of native code, which knows nothing of this package's JavaScript. */
export interface ModelWorklet<Inputs extends object, Outputs extends object> {
    /**
     * Runs the model on `inputs`, on the thread that calls it, which waits. Arrays are read in place; outputs are new.
     *
     * @throws Error whose message begins with a code, as in `[bad-input] ...` or `[disposed] ...`
     */
    run(inputs: Inputs): Outputs;
}
/**
 * A loaded model. Its memory is freed by `dispose`, not by the garbage collector.
 *
 * Runs may be requested at the same time: they take turns. Runs of different models are parallel.
 */
export declare class AnyModel<Inputs extends object, Outputs extends object> {
    /** The model's name and version, the file that was opened, and the version of ONNX Runtime. */
    readonly info: Info;
    /**
     * The provider that started, which runs at least one node. Operators that it does not support run on the CPU. The policy
     * `retryOnCpu` makes it `cpu` after failures.
     */
    readonly provider: Provider;
    /** Providers that were tried before `provider` and did not start, or failed, in this order, with the reasons. */
    readonly fallbacks: readonly Fallback[];
    /**
     * The share of each provider, the CPU included. Undefined where ONNX Runtime does not say: in a browser, and
     * of files in ORT format.
     */
    readonly assignment: readonly ProviderAssignment[] | undefined;
    private readonly serving;
    private readonly queue;
    private calls;
    private isDisposed;
    /** Models are made by `load` of a generated file. */
    constructor(outcome: Outcome);
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
    run(inputs: Inputs, options?: AsyncRunOptions<Targets<Outputs>>): Promise<Outputs>;
    /**
     * Runs the model on `inputs` while the JavaScript thread waits: for models that take less than a frame. Every array is
     * read and written in place.
     *
     * @throws ModelError what `run` throws, and `unsupported` in a browser
     */
    runSync(inputs: Inputs, options?: RunOptions<Targets<Outputs>>): Outputs;
    /**
     * Runs the model `runs` times on `inputs`, in a second session with ONNX Runtime's profiling on.
     *
     * @returns the path of the trace, a file in the app's cache that chrome://tracing and ui.perfetto.dev show
     * @throws ModelError what `run` throws, `bad-options`, and `unsupported` in a browser
     */
    profile(inputs: Inputs, runs?: number): Promise<string>;
    /**
     * The model for worklets, such as frame processors of a camera: capture it in one, and call its `run` on any thread. It
     * ends with the model.
     *
     * @throws ModelError `disposed`, and `unsupported` in a browser
     */
    worklet(): ModelWorklet<Inputs, Outputs>;
    /**
     * Checks that the model computes on this device what it computed on the build machine: runs it on samples
     * from the package, and compares every output with its expected values. A file of the app's own has no samples.
     *
     * @throws ModelError, for example because the samples are not those that this package was built with
     */
    selfTest(): Promise<SelfTest>;
    /** Frees the model's memory, after the runs that were called for before. Every later call fails; a second one does nothing. */
    dispose(): void;
    /**
     * Counts a call until it has ended.
     *
     * @throws ModelError `busy`
     */
    protected hold<Result>(call: () => Promise<Result>): Promise<Result>;
    /** `run` of a call that is counted already. */
    protected runHeld(inputs: Inputs, options: AsyncRunOptions<Targets<Outputs>>): Promise<Outputs>;
    /** Checks inputs, and copies them if they are read again later. */
    private callOf;
    /** Inputs as a later attempt reads them. */
    private kept;
    private serve;
    /** Another session may have been opened since. */
    private show;
    private checkAlive;
    private error;
}
