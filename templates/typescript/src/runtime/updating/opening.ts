// Opens what an updater has downloaded. Whatever goes wrong, the model before it is opened, and at last the app's own.

import type { Backend } from '../backend.js';
import { type ModelError, toModelError } from '../errors.js';
import { observeLoad, type Observed } from '../observing.js';
import { openModel, type Outcome } from '../opening.js';
import { keptDocument, type Channel } from './asking.js';
import { fatal } from './attempts.js';
import { filesFor, type Fitting, type Taker } from './choosing.js';
import { goldenOf, releaseOf } from './releases.js';
import type { Loadable } from './source.js';
import { storedModel, withoutActive, type StoredRelease } from './state.js';
import { FAULTS } from './trying.js';

/** Attempts to open a version that ended the app: one more is not made. */
export const MOST_ATTEMPTS = 2;
/** Errors that nothing else would have been opened with, either. */
const OWN_FAULTS: ReadonlySet<string> = new Set(['cancelled', 'bad-options', 'runtime-version']);

/** Opens models of a channel. */
export class Opener {
  private readonly channel: Channel;
  private readonly backend: Backend;
  private readonly takerOf: (model: string) => Omit<Taker, 'takesPart'>;
  private readonly onDropped: (model: string, reason: string) => void;
  /** SHA-256 of files that models of this process may open again. */
  readonly opened: Set<string> = new Set();

  constructor(
    channel: Channel,
    backend: Backend,
    takerOf: (model: string) => Omit<Taker, 'takesPart'>,
    onDropped: (model: string, reason: string) => void,
  ) {
    this.channel = channel;
    this.backend = backend;
    this.takerOf = takerOf;
    this.onDropped = onDropped;
  }

  /**
   * The model of the release that is active, or of the one before; null where there is none. One load of a model after the
   * other, so that each counts its own attempts.
   *
   * @throws ModelError `cancelled`, `bad-options`, `runtime-version`
   */
  open<Loaded extends Observed>(loadable: Loadable<Loaded>): Promise<Loaded | null> {
    const { name } = loadable.descriptor;
    return this.channel.platform.alone(`opening ${name}`, async () => {
      for (;;) {
        const active = await this.begin(name);
        if (active === null) return null;
        try {
          const model = await this.openRelease(active, loadable);
          for (const { sha256 } of active.files) this.opened.add(sha256);
          await this.channel.ledger.changeModel(name, () => ({ opening: null }));
          return model;
        } catch (reason) {
          await this.fail(name, toModelError(reason));
        } finally {
          this.channel.platform.attempts?.end(`opening ${name}`);
        }
      }
    });
  }

  /** The release to open next, whose attempt is counted; null for the app's own model. */
  private async begin(name: string): Promise<StoredRelease | null> {
    for (;;) {
      const { active, opening } = storedModel(await this.channel.ledger.read(), name);
      if (active === null) return null;
      const { attempts } = this.channel.platform;
      const count = opening?.version === active.version ? fatal(opening.count, `opening ${name}`, attempts) : 0;
      if (active.number <= this.channel.delivery.number) {
        await this.drop(name, '', `version ${active.version} is not newer than the app's own`);
      } else if (count >= MOST_ATTEMPTS) {
        await this.drop(name, 'the app ended twice while it was opened', '');
      } else {
        await this.channel.ledger.changeModel(name, () => ({ opening: { version: active.version, count: count + 1 } }));
        attempts?.begin(`opening ${name}`);
        return active;
      }
    }
  }

  private async openRelease<Loaded extends Observed>(stored: StoredRelease, loadable: Loadable<Loaded>): Promise<Loaded> {
    const { descriptor, options } = loadable;
    const fitting = await this.fittingOf(descriptor.name, stored);
    const { backend, source } = this.channel.platform.opening();
    const released = releaseOf(descriptor, this.backend, fitting);
    // Without samples a model can be opened all the same.
    const golden = await goldenOf(released, fitting.files, this.channel.platform).catch(() => []);
    const model = { ...released, golden };
    const given = { ...options, source };
    const loading = openModel(model, backend, given).then((outcome) => made(loadable.Loaded, outcome));
    const { observer } = options;
    return observer === undefined ? loading : observeLoad(observer, descriptor.name, loading, given, this.backend);
  }

  /** Verified as if it had just come, but for its end and its number. */
  private async fittingOf(name: string, stored: StoredRelease): Promise<Fitting> {
    const found = await keptDocument(this.channel, stored.document);
    const release = found?.document.models.get(name)?.find(({ version }) => version === stored.version);
    const taker = this.takerOf(name);
    if (release === undefined || release.contract !== taker.contract) {
      throw new Error(`[missing] the document of version ${stored.version} is not there, or damaged`);
    }
    const kept = new Set(stored.files.map(({ sha256 }) => sha256));
    const files = filesFor(release.files, taker).filter(({ file, data }) => [file, ...data].every((each) => kept.has(each.sha256)));
    if (files.length === 0) throw new Error(`[missing] version ${stored.version} has no file for this app`);
    return { release, files };
  }

  /** Errors of the runtime are the release's own; what is damaged or missing may be downloaded again. */
  private async fail(name: string, error: ModelError): Promise<void> {
    if (OWN_FAULTS.has(error.code)) {
      await this.channel.ledger.changeModel(name, () => ({ opening: null }));
      throw error;
    }
    const isFault = FAULTS.has(error.code);
    await this.drop(name, isFault ? error.message : '', error.message);
  }

  private async drop(name: string, ban: string, reason: string): Promise<void> {
    const { active } = storedModel(await this.channel.ledger.read(), name);
    await this.channel.ledger.changeModel(name, (model) => withoutActive(model, ban));
    this.onDropped(name, `version ${active?.version ?? ''} is not opened any more: ${ban === '' ? reason : ban}`);
  }
}

/** A session that nobody gets is closed. */
function made<Loaded>(Loaded: new (outcome: Outcome) => Loaded, outcome: Outcome): Loaded {
  try {
    return new Loaded(outcome);
  } catch (error) {
    outcome.backend.close(outcome.opened.session);
    throw error;
  }
}
