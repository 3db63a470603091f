// Which session serves the runs of a model: its own, or one on the CPU after failures.

import { ModelError, toModelError } from './errors.js';
import type { Provider } from './descriptor.js';
import { Heat } from './heat.js';
import type { Fallback, ReleaseEvent } from './observer.js';
import { observeLoad, tell } from './observing.js';
import { openModel, type Outcome } from './opening.js';
import type { LoadOptions } from './options.js';
import { policiesOf, type Policies } from './policies.js';
import { Reopening } from './reopening.js';
import { Session } from './session.js';

const MOST_FAILURES = 3;

/** Does something with a session; `isRetry` after another one failed. */
export type Attempt<Result> = (session: Session, isRetry: boolean) => Promise<Result>;

/** Follows the policies of the app. */
export class Serving {
  /** The session that was open last: it knows the tensors though it may be closed. */
  latest: Session;
  /** Providers that did not start, or failed. */
  fallbacks: readonly Fallback[];
  private readonly policies: Required<Policies>;
  private usual: Reopening;
  private spare: Reopening | null = null;
  /** The session of a provider that failed too often: closed after its last run, or at the end if worklets may have it. */
  private retired: Reopening | null = null;
  /** Null for sessions whose threads stay as they are. */
  private readonly heat: Heat | null;
  private failures = 0;
  private isPinned = false;
  private wasRun = false;
  private isEnded = false;
  /** Memory or a descriptor that the app may have given back since: nothing is opened from there again. */
  private readonly isLent: boolean;
  private readonly unsubscribe: () => void;

  constructor(first: Outcome) {
    this.latest = new Session(first);
    this.fallbacks = first.fallbacks;
    this.policies = policiesOf(first.options.policies);
    this.isLent = isLent(first.options);
    this.heat = this.isLent ? null : Heat.of(first.backend, first.options);
    this.usual = new Reopening(this.latest, () => this.reopen(first));
    const isReleased = this.policies.releaseOnMemoryPressure && !this.isLent;
    this.unsubscribe = isReleased ? first.backend.onMemoryPressure(() => { this.release(); }) : nothing;
  }

  /** Closes the session if the device has become hot or cool since, and nothing uses it: the next run opens another. */
  followHeat(): void {
    if (this.heat === null || this.isPinned || !this.wasRun || !this.heat.isChanged()) return;
    this.spare?.release();
    const isReleased = this.usual.release();
    if (!isReleased && this.usual.current !== null) return;
    this.heat.follow();
    if (isReleased) this.tellOfRelease('thermal');
  }

  /** Whether inputs are read again after the call: by a session that is not open yet, or by one on the CPU. */
  get readsLater(): boolean {
    return this.usual.current === null || this.mayRetry();
  }

  /** Does something on the session, which is opened first where it was released, and once more on the CPU if that fails. */
  async run<Result>(attempt: Attempt<Result>): Promise<Result> {
    const [usual, mayRetry] = [this.usual, this.mayRetry()];
    try {
      const result = await this.use((session) => attempt(session, false));
      this.failures = 0;
      return result;
    } catch (thrown) {
      const error = toModelError(thrown);
      if (error.code !== 'runtime' || !mayRetry || this.isEnded) throw error;
      return await this.retry(attempt, usual, error);
    } finally {
      if (!this.isPinned) this.retired?.release();
    }
  }

  /** `run` without another attempt. */
  use<Result>(work: (session: Session) => Promise<Result>): Promise<Result> {
    this.wasRun = true;
    return this.usual.use(work);
  }

  /**
   * The session for what does not wait. It is not released from now on.
   *
   * @throws ModelError `unsupported` where it was released
   */
  now(): Session {
    const { current } = this.usual;
    if (current === null) {
      throw new ModelError('unsupported', 'the model was released when memory was short: run() opens it again');
    }
    this.isPinned = true;
    return current;
  }

  end(): void {
    this.isEnded = true;
    this.unsubscribe();
    for (const each of [this.usual, this.spare, this.retired]) each?.end();
  }

  private mayRetry(): boolean {
    return this.policies.retryOnCpu && this.latest.outcome.provider !== 'cpu' && !this.isLent;
  }

  private release(): void {
    if (!this.wasRun || this.isPinned) return;
    this.spare?.release();
    if (this.usual.release()) this.tellOfRelease('memory');
  }

  private tellOfRelease(reason: ReleaseEvent['reason']): void {
    const { observer } = this.latest.outcome.options;
    if (observer === undefined) return;
    const { name: model } = this.latest.about.info;
    tell(() => observer.onRelease?.({ model, reason }));
  }

  private async reopen(first: Outcome): Promise<Session> {
    const session = await openOn(first.provider, first, this.heat);
    this.fallbacks = [...this.fallbacks, ...session.outcome.fallbacks];
    this.latest = session;
    return session;
  }

  /** If it succeeds on the CPU, what failed is the provider. */
  private async retry<Result>(attempt: Attempt<Result>, failed: Reopening, error: ModelError): Promise<Result> {
    // Others may have failed before, and the model may be on the CPU since.
    const cpu = this.retired === failed ? this.usual : this.cpu();
    return cpu.use(async (session) => {
      const result = await attempt(session, true);
      if (this.usual === failed) this.countFailure(cpu, session, error);
      return result;
    });
  }

  private cpu(): Reopening {
    this.spare ??= new Reopening(null, () => openOn('cpu', this.latest.outcome, this.heat));
    return this.spare;
  }

  private countFailure(cpu: Reopening, session: Session, error: ModelError): void {
    this.failures += 1;
    if (this.failures < MOST_FAILURES) return;
    const { provider } = this.latest.outcome;
    this.fallbacks = [...this.fallbacks, { provider, reason: error.message }];
    this.latest = session;
    [this.retired, this.usual, this.spare] = [this.usual, cpu, null];
  }
}

/** Opens the model of a session once more, from the same source. */
async function openOn(provider: Provider, { model, backend, options }: Outcome, heat: Heat | null): Promise<Session> {
  const again: LoadOptions = { ...options, providers: [provider], ...(heat && { threads: heat.threads }) };
  // Those were of the first load.
  Reflect.deleteProperty(again, 'signal');
  Reflect.deleteProperty(again, 'onProgress');
  const opening = openModel(model, backend, again).then((outcome) => new Session(outcome));
  const { observer } = options;
  if (observer === undefined) return opening;
  const loading = opening.then((session) => ({ ...session.about, session }));
  return (await observeLoad(observer, model.name, loading, options, backend)).session;
}

function isLent({ source = 'bundled' }: LoadOptions): boolean {
  return source !== 'bundled' && ('buffer' in source || 'descriptor' in source);
}

function nothing(): void {
  // there is no subscription
}
