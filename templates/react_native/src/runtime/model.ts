// A loaded model.

import type { Backend, Ran } from './backend.js';
import type { Provider } from './descriptor.js';
import { newArray } from './elements.js';
import { ModelError, toModelError, type ModelErrorCode } from './errors.js';
import { sharedArray } from './memory.js';
import type { Fallback, ModelObserver } from './observer.js';
import { observeRun, observeRunSync, tell } from './observing.js';
import type { Outcome } from './opening.js';
import type { AsyncRunOptions, Info, ProviderAssignment, RunOptions } from './options.js';
import { throwIfAborted } from './permitting.js';
import { profileSession } from './profiling.js';
import { Runs, type MakeArray, type Prepared } from './running.js';
import { testModel, type SelfTest } from './selftest.js';
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

/**
 * A loaded model. Its memory is freed by `dispose`, not by the garbage collector.
 *
 * Runs may be requested at the same time: they take turns. Runs of different models are parallel.
 */
export class Model<Inputs extends object, Outputs extends object> {
  /** The model's name and version, the file that was opened, and the version of ONNX Runtime. */
  readonly info: Info;
  /** The provider that started, which runs at least one node. Operators that it does not support run on the CPU. */
  readonly provider: Provider;
  /** Providers that were tried before `provider` and did not start, in this order, with the reasons. */
  readonly fallbacks: readonly Fallback[];
  /**
   * What each provider runs of the model, the CPU included. Undefined where ONNX Runtime does not say: in a browser, and
   * of files in ORT format.
   */
  readonly assignment: readonly ProviderAssignment[] | undefined;

  private readonly outcome: Outcome;
  private readonly backend: Backend;
  private readonly session: number;
  private readonly runs: Runs;
  private readonly observer: ModelObserver | undefined;
  private readonly queue: number;
  private calls = 0;
  private isDisposed = false;

  /** Models are made by `load` of a generated file. */
  constructor(outcome: Outcome) {
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
  async run(inputs: Inputs, options: AsyncRunOptions<Targets<Outputs>> = {}): Promise<Outputs> {
    const prepared = this.prepareShared(inputs, options);
    return this.hold(() => this.runPrepared(prepared, options.signal));
  }

  /**
   * Runs the model on `inputs` while the JavaScript thread waits: for models that take less than a frame. Every array is
   * read and written in place.
   *
   * @throws ModelError what `run` throws, and `unsupported` in a browser
   */
  runSync(inputs: Inputs, options: RunOptions<Targets<Outputs>> = {}): Outputs {
    const prepared = this.prepare(inputs, options.into ?? {}, newArray);
    const { observer } = this;
    const ran =
      observer === undefined
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
  async profile(inputs: Inputs, runs = 10): Promise<string> {
    const prepared = this.prepare(inputs, {}, newArray);
    return profileSession(this.backend, this.session, this.info, prepared, runs);
  }

  /**
   * The model for worklets, such as frame processors of a camera: capture it in one, and call its `run` on any thread. It
   * ends with the model.
   *
   * @throws ModelError `disposed`, and `unsupported` in a browser
   */
  worklet(): ModelWorklet<Inputs, Outputs> {
    this.checkAlive();
    const { inputs, outputs } = this.runs.keys();
    return this.backend.worklet(this.session, inputs, outputs) as ModelWorklet<Inputs, Outputs>;
  }

  /**
   * Checks that the model computes on this device what it computed on the build machine: runs it on samples
   * from the package, and compares every output with its expected values. A file of the app's own has no samples.
   *
   * @throws ModelError, for example because the samples are not those that this package was built with
   */
  async selfTest(): Promise<SelfTest> {
    this.checkAlive();
    const run = (inputs: object): Promise<Outputs> => this.run(inputs as Inputs);
    try {
      return await testModel(this.outcome, run);
    } catch (thrown) {
      throw toModelError(thrown);
    }
  }

  /** Frees the model's memory, after the runs that are under way. Every later call fails; a second one does nothing. */
  dispose(): void {
    if (this.isDisposed) return;
    this.isDisposed = true;
    this.backend.close(this.session);
    const { observer, info } = this;
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
    return this.runPrepared(this.prepareShared(inputs, options), options.signal);
  }

  private prepareShared(inputs: Inputs, { signal, into = {} }: AsyncRunOptions<Targets<Outputs>>): Prepared {
    const prepared = this.prepare(inputs, into, (type, count) => sharedArray(this.backend, type, count));
    throwIfAborted(signal);
    return prepared;
  }

  private async runPrepared(prepared: Prepared, signal: AbortSignal | undefined): Promise<Outputs> {
    const running = this.callNative(prepared, signal);
    const ran = await (this.observer === undefined ? running : observeRun(this.observer, this, running));
    return this.results(prepared, ran);
  }

  private prepare(inputs: object, into: object, makeArray: MakeArray): Prepared {
    this.checkAlive();
    return this.runs.prepare(inputs, into, makeArray);
  }

  private checkAlive(): void {
    if (!this.isDisposed) return;
    throw this.error('disposed', 'was disposed of');
  }

  private error(code: ModelErrorCode, words: string): ModelError {
    return new ModelError(code, `${this.outcome.model.className} ${words}`);
  }

  private async callNative({ buffers, layout, texts }: Prepared, signal: AbortSignal | undefined): Promise<Ran> {
    const call = nextCall();
    const cancel = (): void => {
      this.backend.cancel(call);
    };
    signal?.addEventListener('abort', cancel);
    try {
      return await this.backend.run(this.session, call, buffers, layout, texts, this.observer !== undefined);
    } catch (thrown) {
      throw toModelError(thrown);
    } finally {
      signal?.removeEventListener('abort', cancel);
    }
  }

  private callNativeSync({ buffers, layout, texts }: Prepared): Ran {
    try {
      return this.backend.runSync(this.session, buffers, layout, texts);
    } catch (thrown) {
      throw toModelError(thrown);
    }
  }

  private results(prepared: Prepared, ran: Ran): Outputs {
    // The descriptor and the type come from the same signature.
    return this.runs.read(this.backend, prepared, ran) as Outputs;
  }
}

let calls = 0;

function nextCall(): number {
  calls += 1;
  return calls;
}
