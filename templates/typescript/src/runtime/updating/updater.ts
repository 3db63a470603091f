// Keeps the models of a package up to date from a channel. Whatever happens, a verified model can be opened.

import { currentBackend, type Backend } from '../backend.js';
import { platformFiles, type ModelDescriptor } from '../descriptor.js';
import { ModelError, toModelError } from '../errors.js';
import type { Observed } from '../observing.js';
import { checkOptions } from '../permitting.js';
import type { Channel } from './channel.js';
import { bannedIn } from './banning.js';
import type { Taker } from './choosing.js';
import { isSafe, type Delivery } from './delivery.js';
import { Ledger } from './ledger.js';
import { Opener } from './opening.js';
import { prune } from './pruning.js';
import { sourceFor, type Loadable, type UpdatedSource } from './source.js';
import { withModel, type StoredState } from './state.js';
import type { UpdateOptions, UpdateRequest, UpdateStates } from './states.js';
import { Telling } from './telling.js';
import { ExpiredError, TufClient } from './tufClient.js';
import { updateModel, type Outcome } from './updating.js';

/** An updater with its folder. */
interface Started {
  readonly channel: Channel;
  readonly backend: Backend;
  readonly opener: Opener;
}

/** The updater of a package, for one channel and all models. Generated code gives it its name, `ModelUpdater`. */
export class Updater {
  /** Models that `load` opens: downloaded ones, or else `options.fallback`. */
  readonly source: UpdatedSource;
  private readonly delivery: Delivery;
  private readonly models: readonly ModelDescriptor[];
  private readonly address: string;
  private readonly options: UpdateOptions;
  private readonly telling: Telling;
  private started: Started | null = null;
  private running: Promise<UpdateStates> | null = null;

  /**
   * @param address - of the folder that `mobpack channel publish` writes to: an `https:` address with a / at its end
   * @throws ModelError `bad-options`
   */
  constructor(delivery: Delivery, models: readonly ModelDescriptor[], address: string, options: UpdateOptions = {}) {
    if (typeof address !== 'string' || !isSafe(address) || !/^[^?#]+\/$/.test(address)) {
      throw new ModelError('bad-options', `'${address}' is not the https: address of a folder, with a / at its end`);
    }
    this.delivery = delivery;
    this.models = models;
    this.address = address;
    this.options = options;
    this.source = sourceFor({ open: (loadable) => this.open(loadable) }, address);
    this.telling = new Telling(models, delivery.version);
  }

  /** The latest states, by the models' names. */
  get states(): UpdateStates {
    return this.telling.states;
  }

  /** Calls `listener` with all states whenever one has changed, until the function that this returns is called. */
  subscribe(listener: (states: UpdateStates) => void): () => void {
    return this.telling.subscribe(listener);
  }

  /**
   * Asks the channel, downloads what is new, and tries it. Models that are open stay as they are; the next load opens the new
   * ones. Whatever fails is a state. Calls at the same time are one.
   *
   * @throws ModelError `cancelled`
   */
  update(request: UpdateRequest = {}): Promise<UpdateStates> {
    this.running ??= this.updateOnce(request).finally(() => {
      this.running = null;
    });
    return this.running;
  }

  /** Stops updates, on this device, until `unfreeze`. What was downloaded is opened as before. */
  async freeze(): Promise<void> {
    await this.change((state) => ({ ...state, isFrozen: true }));
  }

  async unfreeze(): Promise<void> {
    await this.change((state) => ({ ...state, isFrozen: false }));
  }

  /**
   * Makes the next updates take that version of a model, and no other.
   *
   * @throws ModelError `bad-options` for a model that there is not
   */
  async pin(model: string, version: string): Promise<void> {
    this.descriptorOf(model);
    await this.change((state) => ({ ...state, pins: new Map([...state.pins, [model, version]]) }));
  }

  /** @throws ModelError `bad-options` for a model that there is not */
  async unpin(model: string): Promise<void> {
    this.descriptorOf(model);
    await this.change((state) => ({ ...state, pins: new Map([...state.pins].filter(([name]) => name !== model)) }));
  }

  /** Removes all downloads: the next load opens the app's own models. What was seen and what is banned is remembered. */
  async remove(): Promise<void> {
    const { channel } = this.start();
    await channel.platform.alone('update', async () => {
      await this.change((state) =>
        [...state.models.keys()].reduce(
          (changed, name) => withModel(changed, name, { active: null, previous: null, trying: null, opening: null }),
          state,
        ),
      );
      await prune(channel, [], this.start().opener.opened);
    });
  }

  private async updateOnce({ force = false, signal }: UpdateRequest): Promise<UpdateStates> {
    try {
      const { channel } = this.start();
      await channel.platform.alone('update', () => this.updateAll(force, signal));
    } catch (reason) {
      const error = toModelError(reason);
      const isCancelled = error.code === 'cancelled';
      const phase = isCancelled ? 'waiting' : error instanceof ExpiredError ? 'expired' : 'failed';
      this.telling.tellAll({ phase, reason: error.message });
      if (isCancelled) throw error;
    }
    return this.states;
  }

  private async updateAll(force: boolean, signal: AbortSignal | undefined): Promise<void> {
    const { channel, opener } = this.start();
    const state = await channel.ledger.read();
    this.telling.showVersions(state);
    if (state.isFrozen) {
      this.telling.tellAll({ phase: 'frozen', reason: '' });
      return;
    }
    if (!force && Date.now() < state.notBefore) {
      const seconds = Math.ceil((state.notBefore - Date.now()) / 1000);
      this.telling.tellAll({ phase: 'waiting', reason: `after a failure, for ${String(seconds)} s more` });
      return;
    }
    this.telling.tellAll({ phase: 'checking', reason: '' });
    const client = new TufClient(channel, state.latest, signal);
    const outcomes: Outcome[] = [];
    try {
      await client.refresh();
      for (const model of this.models) outcomes.push(await this.updateOne(model, client, signal));
    } catch (reason) {
      const error = toModelError(reason);
      // The next attempt after a failure is later.
      if (error.code !== 'cancelled' && !(error instanceof ExpiredError)) await channel.ledger.countFailure();
      throw error;
    } finally {
      await client.remember();
    }
    if (outcomes.some(({ isFailure }) => isFailure)) await channel.ledger.countFailure();
    else await channel.ledger.forgetFailures();
    if (outcomes.every(({ wanted }) => wanted !== null)) {
      await prune(channel, outcomes.flatMap(({ wanted }) => wanted ?? []), opener.opened);
    }
  }

  private async updateOne(model: ModelDescriptor, client: TufClient, signal: AbortSignal | undefined): Promise<Outcome> {
    const { channel, backend } = this.start();
    const { name } = model;
    const outcome = await updateModel(
      {
        channel,
        backend,
        model,
        taker: this.takerOf(name, await channel.ledger.read()),
        options: this.options,
        signal,
        tell: (state) => {
          this.telling.tell(name, state);
        },
      },
      client,
    );
    this.telling.showVersions(await channel.ledger.read());
    this.telling.tell(name, { phase: outcome.phase, reason: outcome.reason === '' ? client.warning : outcome.reason });
    return outcome;
  }

  private async open<Loaded extends Observed>(loadable: Loadable<Loaded>): Promise<Loaded> {
    const { fallback = 'bundled' } = this.options;
    checkOptions(loadable.options);
    const found = await this.openDownloaded(loadable);
    return found ?? loadable.load({ ...loadable.options, source: fallback });
  }

  /** Null where the app's own model is opened: nothing of the updater keeps it from that. */
  private async openDownloaded<Loaded extends Observed>(loadable: Loadable<Loaded>): Promise<Loaded | null> {
    try {
      const { opener, channel } = this.start();
      const model = await opener.open(loadable);
      this.telling.showVersions(await channel.ledger.read());
      return model;
    } catch (reason) {
      const error = toModelError(reason);
      if (error.code === 'cancelled' || error.code === 'bad-options') throw error;
      this.telling.tell(loadable.descriptor.name, { reason: error.message });
      return null;
    }
  }

  private start(): Started {
    if (this.started !== null) return this.started;
    const { delivery, address } = this;
    const backend = currentBackend();
    const platform = delivery.open(backend);
    const channel: Channel = { delivery, address, platform, ledger: new Ledger(platform) };
    const opener = new Opener({
      channel,
      backend,
      observer: this.options.observer,
      takerOf: (name) => this.takerOf(name, null),
      onPassed: (name, reason) => {
        this.telling.tell(name, { phase: 'failed', reason });
      },
    });
    this.started = { channel, backend, opener };
    return this.started;
  }

  private takerOf(name: string, state: StoredState | null): Omit<Taker, 'takesPart'> {
    const { delivery, options } = this;
    const { platform, device } = this.started?.backend ?? currentBackend();
    const build = delivery.builds[platform];
    if (build === undefined) throw new ModelError('unsupported', `this package has no channel on ${platform}`);
    const packaged = platformFiles(this.descriptorOf(name), platform).providers.map(({ provider }) => provider);
    return {
      number: delivery.number,
      contract: delivery.contracts[name] ?? '',
      build,
      chip: device.chip,
      providers: [...(options.providers ?? packaged).filter((provider) => provider !== 'cpu'), 'cpu'],
      banned: state === null ? new Set() : bannedIn(state, name),
      pin: state?.pins.get(name),
    };
  }

  private descriptorOf(name: string): ModelDescriptor {
    const found = this.models.find((model) => model.name === name);
    if (found !== undefined) return found;
    const names = this.models.map((model) => model.name).join(', ');
    throw new ModelError('bad-options', `there is no model '${name}': there are ${names}`);
  }

  private async change(change: (state: StoredState) => StoredState): Promise<void> {
    this.telling.showVersions(await this.start().channel.ledger.change(change));
  }
}
