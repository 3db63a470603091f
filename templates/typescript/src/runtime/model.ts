// A loaded model.

import { copied } from './copying.js';
import type { Provider } from './descriptor.js';
import { ModelError, toModelError, type ModelErrorCode } from './errors.js';
import type { Fallback } from './observer.js';
import { tell } from './observing.js';
import type { Outcome } from './opening.js';
import type { AsyncRunOptions, Info, ProviderAssignment, RunOptions } from './options.js';
import { throwIfAborted } from './permitting.js';
import type { Prepared } from './running.js';
import { testModel, type SelfTest } from './selftest.js';
import { Serving } from './serving.js';
import type { Session } from './session.js';
import type { Targets } from './tensor.js';

const MOST_CALLS = 64;

/** A model on threads of worklets: an object of native code, which knows nothing of this package's JavaScript. */
export interface ModelWorklet<Inputs extends object, Outputs extends object> {
  /**
   * Runs the model on `inputs`, on the thread that calls it, which waits. Arrays are read in place; outputs are new.
   *
   * @throws Error whose message begins with a code, as in `[bad-input] ...` or `[disposed] ...`
   */
  run(inputs: Inputs): Outputs;
}

/** A call of `run` that was checked. */
interface Call<Inputs> {
  /** Session that `prepared` was made for. */
  readonly session: Session;
  readonly prepared: Prepared;
  /** For another session. */
  readonly inputs: Inputs;
  readonly into: object;
  readonly signal: AbortSignal | undefined;
}

/**
 * A loaded model. Its memory is freed by `dispose`, not by the garbage collector.
 *
 * Runs may be requested at the same time: they take turns. Runs of different models are parallel.
 */
export class AnyModel<Inputs extends object, Outputs extends object> {
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

  private readonly serving: Serving;
  private readonly queue: number;
  private calls = 0;
  private isDisposed = false;

  /** Models are made by `load` of a generated file. */
  constructor(outcome: Outcome) {
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
  async run(inputs: Inputs, options: AsyncRunOptions<Targets<Outputs>> = {}): Promise<Outputs> {
    const call = this.callOf(inputs, options);
    return this.hold(() => this.serve(call));
  }

  /**
   * Runs the model on `inputs` while the JavaScript thread waits: for models that take less than a frame. Every array is
   * read and written in place.
   *
   * @throws ModelError what `run` throws, and `unsupported` in a browser
   */
  runSync(inputs: Inputs, options: RunOptions<Targets<Outputs>> = {}): Outputs {
    this.checkAlive();
    const session = this.serving.now();
    return session.runSync(session.prepareSync(inputs, options.into ?? {})) as Outputs;
  }

  /**
   * Runs the model `runs` times on `inputs`, in a second session with ONNX Runtime's profiling on.
   *
   * @returns the path of the trace, a file in the app's cache that chrome://tracing and ui.perfetto.dev show
   * @throws ModelError what `run` throws, `bad-options`, and `unsupported` in a browser
   */
  async profile(inputs: Inputs, runs = 10): Promise<string> {
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
  worklet(): ModelWorklet<Inputs, Outputs> {
    this.checkAlive();
    return this.serving.now().worklet() as ModelWorklet<Inputs, Outputs>;
  }

  /**
   * Checks that the model computes on this device what it computed on the build machine: runs it on samples
   * from the package, and compares every output with its expected values. A file of the app's own has no samples.
   *
   * @throws ModelError, for example because the samples are not those that this package was built with
   */
  async selfTest(): Promise<SelfTest> {
    this.checkAlive();
    // Not repeated on the CPU: the test is about the provider.
    const run = (inputs: object): Promise<object> =>
      this.serving.use((session) => session.run(session.prepare(inputs, {}), undefined, false));
    try {
      return await testModel(this.serving.latest.outcome, run);
    } catch (thrown) {
      throw toModelError(thrown);
    }
  }

  /** Frees the model's memory, after the runs that were called for before. Every later call fails; a second one does nothing. */
  dispose(): void {
    if (this.isDisposed) return;
    this.isDisposed = true;
    this.serving.end();
    const { observer } = this.serving.latest.outcome.options;
    const { info } = this;
    if (observer !== undefined) tell(() => observer.onRelease?.({ model: info.name, reason: 'close' }));
  }

  /**
   * Counts a call until it has ended.
   *
   * @throws ModelError `busy`
   */
  protected async hold<Result>(call: () => Promise<Result>): Promise<Result> {
    if (this.calls >= this.queue) throw this.error('busy', 'is busy: its queue is full');
    this.calls += 1;
    try {
      return await call();
    } finally {
      this.calls -= 1;
    }
  }

  /** `run` of a call that is counted already. */
  protected async runHeld(inputs: Inputs, options: AsyncRunOptions<Targets<Outputs>>): Promise<Outputs> {
    return this.serve(this.callOf(inputs, options));
  }

  /** Checks inputs, and copies them if they are read again later. */
  private callOf(inputs: Inputs, { signal, into = {} }: AsyncRunOptions<Targets<Outputs>>): Call<Inputs> {
    this.checkAlive();
    this.serving.prepare();
    const session = this.serving.latest;
    const prepared = session.prepare(inputs, into);
    throwIfAborted(signal);
    return { session, prepared, inputs: this.kept(inputs), into, signal };
  }

  /** Inputs as a later attempt reads them. */
  private kept(inputs: Inputs): Inputs {
    return this.serving.readsLater ? copied(inputs, this.serving.latest.outcome.backend.isNative) : inputs;
  }

  private async serve({ session, prepared, inputs, into, signal }: Call<Inputs>): Promise<Outputs> {
    const outputs = await this.serving.run((each, isRetry) => {
      if (each === session) return each.run(prepared, signal, isRetry);
      throwIfAborted(signal);
      return each.run(each.prepare(inputs, into), signal, isRetry);
    }, signal);
    this.show();
    // The descriptor and the type come from the same signature.
    return outputs as Outputs;
  }

  /** Another session may have been opened since. */
  private show(): void {
    const { latest, fallbacks } = this.serving;
    const { info, provider } = latest.about;
    if (this.info !== info) Object.assign(this, { info, provider, fallbacks, assignment: latest.outcome.assignment });
  }

  private checkAlive(): void {
    if (!this.isDisposed) return;
    throw this.error('disposed', 'was disposed of');
  }

  private error(code: ModelErrorCode, words: string): ModelError {
    return new ModelError(code, `${this.serving.latest.outcome.model.className} ${words}`);
  }
}
