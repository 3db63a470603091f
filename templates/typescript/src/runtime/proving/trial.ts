// Tries providers on the samples of a package, beside the CPU.

import { macNodesOf } from '../assignment.js';
import type { Attempt } from '../attempt.js';
import type { Backend } from '../backend.js';
import type { ModelFile, Provider } from '../descriptor.js';
import { isOfProvider, ModelError, toModelError } from '../errors.js';
import { openFirst, tryToOpen, type OpenModel, type Outcome } from '../opening.js';
import type { ProviderProof } from '../options.js';
import { lineOf, testModel } from '../selftest.js';
import { Session } from '../session.js';
import { Limited, Over } from './limited.js';
import type { Key, ProofRecord } from './record.js';

const RUNS = 3;
/** How much longer than the CPU a provider may take. */
const MARGIN = 1.1;
export const ENDED = 'ended the process when it was tried';

/** A verdict, and what was opened by a provider that is proved. */
export interface Examined {
  readonly proof: ProviderProof;
  readonly open: OpenModel | null;
}

type Judged = Omit<ProviderProof, 'provider'>;

/** A provider that is left out. */
export function refused(provider: Provider, reason: string): Examined {
  return { proof: { provider, isProved: false, reason }, open: null };
}

/** The trials of one load, which have a limit together. */
export class Trials {
  private readonly attempt: Attempt;
  private readonly record: ProofRecord;
  private readonly limit: number;
  private readonly limited: Limited;
  private cpu: Outcome | null = null;
  private cpuSeconds: number | null = null;

  constructor(attempt: Attempt, record: ProofRecord, limit: number) {
    this.attempt = attempt;
    this.record = record;
    this.limit = limit;
    this.limited = new Limited(attempt.backend, limit, attempt.options.signal);
  }

  /** Tries a provider, and writes down what came of it. */
  async examine(provider: Provider, file: ModelFile, key: Key): Promise<Examined> {
    const { record, limited } = this;
    if (limited.left <= 0) return refused(provider, this.unexamined());
    await this.onCpu(); // starts what runs models, too: that is no time of the provider's
    const isFirst = limited.left === this.limit;
    let stop = (): void => undefined;
    const backend = limited.backend(async () => {
      stop = await record.begin(key);
    });
    let open: OpenModel | null = null;
    let judged: Judged | null = null;
    try {
      const opened = await tryToOpen(provider, file, { ...this.attempt, backend });
      if (!(opened instanceof ModelError)) open = opened;
      judged = open === null ? { isProved: false, reason: (opened as ModelError).message } : await this.judge(open, backend);
    } catch (thrown) {
      judged = this.judgeError(toModelError(thrown), isFirst);
    } finally {
      stop();
      if (open !== null && judged?.isProved !== true) this.attempt.backend.close(open.opened.session);
      if (judged === null) await record.remove(key);
    }
    if (judged === null) return refused(provider, this.unexamined());
    const { isProved, reason, seconds, cpuSeconds } = judged;
    await record.put({ ...key, state: isProved ? 'proved' : 'refused', reason, seconds, cpu_seconds: cpuSeconds });
    return { proof: { provider, ...judged }, open: isProved ? open : null };
  }

  /** The model on the CPU, for who gets it: it is not closed by `end`. */
  async take(): Promise<Outcome> {
    const cpu = await this.onCpu();
    this.cpu = null;
    return cpu;
  }

  end(): void {
    if (this.cpu !== null) this.attempt.backend.close(this.cpu.opened.session);
  }

  private async onCpu(): Promise<Outcome> {
    const isLost = this.cpu !== null && this.attempt.backend.isLost?.(this.cpu.opened.session) === true;
    if (this.cpu === null || isLost) this.cpu = await openFirst(this.attempt, 'cpu');
    return this.cpu;
  }

  /** Null where the limit ended before the CPU's time was known. */
  private async judge(open: OpenModel, backend: Backend): Promise<Judged | null> {
    const { provider, file, opened } = open;
    const took = macNodesOf(opened, this.attempt, provider);
    const promised = file.nodes?.[provider] ?? 0;
    if (took !== undefined && took < promised) {
      return { isProved: false, reason: `took ${String(took)} nodes; the build saw it take ${String(promised)}` };
    }
    const session = new Session({ ...this.attempt, ...open, backend, options: {}, fallbacks: [], proofs: [] });
    const given: object[] = [];
    const test = await testModel(session.outcome, (inputs) => {
      given.push(inputs);
      return once(session, inputs);
    });
    const failed = test.outputs.find((output) => !output.passed);
    if (failed !== undefined) return { isProved: false, reason: `computed other numbers: ${lineOf(failed)}` };
    const [first = {}] = given;
    const times: number[] = [];
    await this.time(session, first, times);
    const seconds = Math.min(...times);
    const cpuSeconds = await this.timeOfCpu(first, backend);
    if (seconds <= MARGIN * cpuSeconds) return { isProved: true, reason: '', seconds, cpuSeconds };
    if (this.limited.left <= 0) return null;
    const reason = `slower than the CPU: ${inMs(seconds)} instead of ${inMs(cpuSeconds)}`;
    return { isProved: false, reason, seconds, cpuSeconds };
  }

  /** Null for what says nothing about the provider. What else goes wrong is thrown: it ends the load. */
  private judgeError(error: ModelError, isFirst: boolean): Judged | null {
    if (error.code === 'host') return { isProved: false, reason: ENDED };
    if (isOfProvider(error)) return { isProved: false, reason: error.message };
    if (!(error instanceof Over)) throw error;
    this.attempt.backend.abandon?.();
    return isFirst ? { isProved: false, reason: `did not answer within ${this.limit.toFixed(1)} s` } : null;
  }

  private async time(session: Session, inputs: object, times: number[]): Promise<void> {
    while (times.length < RUNS) {
      await once(session, inputs);
      times.push(this.limited.duration);
    }
  }

  /** The CPU's least seconds. A run that is not over at the end of the limit takes what it took until then, at least. */
  private async timeOfCpu(inputs: object, backend: Backend): Promise<number> {
    const times: number[] = [];
    try {
      const session = new Session({ ...(await this.onCpu()), backend, options: {} });
      if (this.cpuSeconds === null) await this.time(session, inputs, times);
    } catch (thrown) {
      if (!(thrown instanceof Over)) throw thrown;
      if (times.length === 0) return this.limited.duration;
    }
    this.cpuSeconds ??= Math.min(...times);
    return this.cpuSeconds;
  }

  private unexamined(): string {
    return `was not examined: the ${this.limit.toFixed(1)} s of the proof were over`;
  }
}

function once(session: Session, inputs: object): Promise<object> {
  return session.run(session.prepare(inputs, {}), undefined, false);
}

function inMs(seconds: number): string {
  return `${(seconds * 1000).toFixed(1)} ms`;
}
