// An open session of a model: what runs, and tells its observer.

import { newArray } from './elements.js';
import type { Ran } from './backend.js';
import { toModelError } from './errors.js';
import { sharedArray } from './memory.js';
import { observeRun, observeRunSync, type Observed } from './observing.js';
import type { Outcome } from './opening.js';
import type { Info } from './options.js';
import { profileSession } from './profiling.js';
import { Runs, type Prepared } from './running.js';
import type { AnyTensor } from './tensor.js';

type Outputs = Readonly<Record<string, AnyTensor>>;

/** Its file, provider and options are in `outcome`. */
export class Session {
  readonly outcome: Outcome;
  readonly about: Observed;
  private readonly runs: Runs;

  /** @throws ModelError `bad-model` when the opened file lacks a tensor of the model, or has others */
  constructor(outcome: Outcome) {
    this.outcome = outcome;
    this.about = { info: infoOf(outcome), provider: outcome.provider, fallbacks: outcome.fallbacks };
    this.runs = new Runs(outcome.model, outcome.opened);
  }

  /** For `run`: outputs without memory of the app get memory that native code may write to. */
  prepare(inputs: object, into: object): Prepared {
    return this.runs.prepare(inputs, into, (type, count) => sharedArray(this.outcome.backend, type, count));
  }

  /** For `runSync` and `profile`. */
  prepareSync(inputs: object, into: object): Prepared {
    return this.runs.prepare(inputs, into, newArray);
  }

  async run(prepared: Prepared, signal: AbortSignal | undefined, isRetry: boolean): Promise<Outputs> {
    const { observer } = this.outcome.options;
    const running = this.call(prepared, signal);
    const ran = await (observer === undefined ? running : observeRun(observer, this.about, running, isRetry));
    return this.runs.read(this.outcome.backend, prepared, ran);
  }

  runSync(prepared: Prepared): Outputs {
    const { observer } = this.outcome.options;
    const ran =
      observer === undefined
        ? this.callSync(prepared)
        : observeRunSync(observer, this.about, () => this.callSync(prepared));
    return this.runs.read(this.outcome.backend, prepared, ran);
  }

  async profile(prepared: Prepared, runs: number): Promise<string> {
    const { backend, opened } = this.outcome;
    return profileSession(backend, opened.session, this.about.info, prepared, runs);
  }

  worklet(): object {
    const { inputs, outputs } = this.runs.keys();
    return this.outcome.backend.worklet(this.outcome.opened.session, inputs, outputs);
  }

  /** Whether what hosted it has failed. */
  get isLost(): boolean {
    const { backend, opened } = this.outcome;
    return backend.isLost?.(opened.session) === true;
  }

  /** Runs that are under way end by themselves. */
  close(): void {
    this.outcome.backend.close(this.outcome.opened.session);
  }

  private async call({ buffers, layout, texts }: Prepared, signal: AbortSignal | undefined): Promise<Ran> {
    const { backend, opened, options } = this.outcome;
    const number = nextCall();
    const cancel = (): void => {
      backend.cancel(number);
    };
    signal?.addEventListener('abort', cancel);
    try {
      return await backend.run(opened.session, number, buffers, layout, texts, options.observer !== undefined);
    } catch (thrown) {
      throw toModelError(thrown);
    } finally {
      signal?.removeEventListener('abort', cancel);
    }
  }

  private callSync({ buffers, layout, texts }: Prepared): Ran {
    try {
      return this.outcome.backend.runSync(this.outcome.opened.session, buffers, layout, texts);
    } catch (thrown) {
      throw toModelError(thrown);
    }
  }
}

function infoOf({ model, about, opened, file, proofs }: Outcome): Info {
  return {
    name: model.name,
    version: model.version,
    file: file.path,
    sha256: file.sha256,
    sizeBytes: opened.sizeBytes,
    onnxRuntimeVersion: about.runtimeVersion,
    proofs,
  };
}

let calls = 0;

function nextCall(): number {
  calls += 1;
  return calls;
}
