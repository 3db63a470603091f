// Decides by proof which provider runs a model.

import type { Attempt } from '../attempt.js';
import type { ModelFile, Provider } from '../descriptor.js';
import { ModelError } from '../errors.js';
import type { Fallback } from '../observer.js';
import { filesFor, NO_FILE, openFirst, providersOf, tryToOpen, type Outcome, type Prover } from '../opening.js';
import type { ProviderProof } from '../options.js';
import { abortable } from '../permitting.js';
import { fingerprintOf } from './fingerprint.js';
import { ProofRecord, type Entry } from './record.js';
import { ENDED, refused, Trials, type Examined } from './trial.js';

const NO_SAMPLES = 'the package has no samples of the model to prove it with';
const LATER = 'was not examined: the proof goes on in the background';

/** How providers are proved. */
export interface ProofOptions {
  /** Seconds after which the proof of all providers of a load ends; 3 by default. */
  readonly limit?: number;
  /**
   * Whether `load` opens at once what is proved so far, or the CPU, while the proof goes on and holds from the next load;
   * false by default.
   */
  readonly inBackground?: boolean;
}

/**
 * The option `proof` of `load`: the first provider that is proved on this device runs the model, and the CPU where none
 * is. A provider is proved that starts, takes as many nodes as the build saw it take, computes the package's samples as
 * `selfTest` asks for, and is no slower than the CPU. Verdicts are kept on the device, and hold until the app, the system,
 * ONNX Runtime or the options of the model change. Nothing is sent.
 *
 * ```ts
 * const model = await Model.load({ proof: new Proof() });
 * console.log(model.provider, model.info.proofs);
 * ```
 */
export class Proof implements Prover {
  readonly limit: number;
  readonly inBackground: boolean;

  /** @throws ModelError `bad-options` */
  constructor({ limit = 3, inBackground = false }: ProofOptions = {}) {
    if (typeof limit !== 'number' || !(limit > 0)) {
      throw new ModelError('bad-options', `limit is ${String(limit)}, which is not a number of seconds`);
    }
    if (typeof inBackground !== 'boolean') {
      throw new ModelError('bad-options', `inBackground is ${String(inBackground)}, which is neither true nor false`);
    }
    this.limit = limit;
    this.inBackground = inBackground;
  }

  /** Opens a model: called by `load`. */
  async open(attempt: Attempt): Promise<Outcome> {
    const prove = (each: Attempt): Promise<Outcome> => alone(each, (record) => decided(each, record, new Trials(each, record, this.limit)));
    if (!this.inBackground) return prove(attempt);
    const outcome = await decided(attempt, new ProofRecord(attempt.backend, attempt.model.name), null);
    if (outcome.proofs.some(({ reason }) => reason === LATER)) {
      const options = { ...attempt.options };
      Reflect.deleteProperty(options, 'signal'); // it was of the load
      // Its verdicts are on record; what fails is tried again by the next load.
      prove({ ...attempt, options }).then(({ backend, opened }) => { backend.close(opened.session); }, () => undefined);
    }
    return outcome;
  }
}

const last = new Map<string, Promise<unknown>>();

/** One proof of a model at a time: another load waits for it, and reads its verdicts. */
async function alone<Result>({ backend, model, options }: Attempt, work: (record: ProofRecord) => Promise<Result>): Promise<Result> {
  const before = last.get(model.name) ?? Promise.resolve();
  const done = abortable(before, options.signal).then(() => work(new ProofRecord(backend, model.name)));
  last.set(model.name, Promise.allSettled([before, done]));
  return done;
}

/** The first provider that is proved: by the record, or by a trial where there are `trials`. */
async function decided(attempt: Attempt, record: ProofRecord, trials: Trials | null): Promise<Outcome> {
  const fallbacks: Fallback[] = [];
  const proofs: ProviderProof[] = [];
  try {
    for (const provider of providersOf(attempt)) {
      const files = provider === 'cpu' ? [] : filesFor(provider, attempt);
      for (const file of files) {
        const { proof, open } = await examined(provider, file, attempt, record, trials);
        proofs.push(proof);
        if (open !== null) return { ...attempt, ...open, fallbacks, proofs };
        fallbacks.push({ provider, reason: proof.reason });
      }
      if (files.length === 0 && provider !== 'cpu') fallbacks.push({ provider, reason: NO_FILE });
    }
    const cpu = await (trials === null ? openFirst(attempt, 'cpu') : trials.take());
    return { ...cpu, fallbacks, proofs };
  } finally {
    trials?.end();
  }
}

async function examined(
  provider: Provider,
  file: ModelFile,
  attempt: Attempt,
  record: ProofRecord,
  trials: Trials | null,
): Promise<Examined> {
  const { model, source } = attempt;
  const isTested = !source.isOwn && model.golden.some(({ tested }) => tested.some(({ path }) => path === file.path));
  if (!isTested) return refused(provider, NO_SAMPLES);
  const key = { provider, file: file.sha256, device: await fingerprintOf(provider, attempt) };
  const known = await record.find(key);
  if (known?.state === 'refused') return { proof: proofOf(provider, known), open: null };
  if (known?.state === 'proved') {
    const open = await tryToOpen(provider, file, attempt);
    return open instanceof ModelError ? refused(provider, open.message) : { proof: proofOf(provider, known), open };
  }
  if (trials === null) return refused(provider, LATER);
  if (known === undefined) return trials.examine(provider, file, key);
  await record.put({ ...key, state: 'refused', reason: ENDED });
  return refused(provider, ENDED);
}

function proofOf(provider: Provider, { state, reason, seconds, cpu_seconds: cpuSeconds }: Entry): ProviderProof {
  return { provider, isProved: state === 'proved', reason, seconds, cpuSeconds };
}
