// The update of one model: chosen, downloaded, tried, and then the next to be opened.

import type { Backend } from '../backend.js';
import type { ModelDescriptor } from '../descriptor.js';
import { toModelError } from '../errors.js';
import { utf8Bytes } from '../trustBytes.js';
import type { Channel } from './channel.js';
import { fatal } from './attempts.js';
import { ban, failsTooOften, faultOf, hasFailedHere, MOST_ATTEMPTS, withoutFailing } from './banning.js';
import { choose, type Fitting, type Taker } from './choosing.js';
import { checkRoom, shoppingFor, type Gathering } from './gathering.js';
import { blobsOf, packagedFiles } from './releases.js';
import { filesInUse, storedModel, withModel, type StoredRelease, type StoredState } from './state.js';
import type { UpdateOptions, UpdatePhase, UpdateState } from './states.js';
import { tryRelease } from './trying.js';
import { ExpiredError, type Listed, type TufClient } from './tufClient.js';
import { reasonToWait } from './waiting.js';

/** A model, and who takes its releases. */
export interface Updated {
  readonly channel: Channel;
  readonly backend: Backend;
  readonly model: ModelDescriptor;
  readonly taker: Omit<Taker, 'takesPart'>;
  readonly options: UpdateOptions;
  readonly signal: AbortSignal | undefined;
  readonly tell: (state: Partial<UpdateState>) => void;
}

/** Result of an update. */
export interface Outcome {
  readonly phase: UpdatePhase;
  readonly reason: string;
  /** SHA-256 of the list, and of files that an update which has not ended wants to find; null where nobody knows. */
  readonly wanted: readonly string[] | null;
  /** Whether the next attempt has to be later. */
  readonly isFailure: boolean;
}

/** @throws ModelError `cancelled` */
export async function updateModel(updated: Updated, client: TufClient): Promise<Outcome> {
  let wanted: readonly string[] | null = null;
  try {
    const listed = await client.releasesOf(updated.model.name);
    wanted = [listed.sha256];
    const fitting = await newRelease(updated, listed);
    if (fitting === null) return { ...ended('up-to-date'), wanted };
    wanted = [listed.sha256, ...wantedOf(fitting)];
    const outcome = await takeRelease(updated, fitting, listed.sha256);
    return { ...outcome, wanted: outcome.phase === 'waiting' ? wanted : [listed.sha256] };
  } catch (reason) {
    const error = toModelError(reason);
    if (error.code === 'cancelled') throw error;
    if (error instanceof ExpiredError) return { ...ended('expired', error.message), wanted };
    // A full disk is not empty sooner because nobody asks.
    return { ...ended('failed', error.message), wanted, isFailure: error.code !== 'no-space' };
  }
}

/** The release to take; null where the model is up to date. */
async function newRelease({ channel, model, taker }: Updated, listed: Listed): Promise<Fitting | null> {
  const state = await channel.ledger.change((before) => relisted(before, model.name, listed));
  const choice = await choose(listed.releases, { ...taker, takesPart: (percent, salt) => takesPart(channel, state, percent, salt) });
  if (choice === 'own') {
    await channel.ledger.changeModel(model.name, (stored) =>
      stored.active === null && stored.previous === null ? {} : { active: null, previous: null, opening: null },
    );
    return null;
  }
  const { active } = storedModel(state, model.name);
  return choice === null || (active !== null && isSame(active, choice)) ? null : choice;
}

/** Releases of the device that the newest list has, too, are opened with it: an older one may lose its keys. */
function relisted(state: StoredState, name: string, { sha256, releases }: Listed): StoredState {
  const again = (stored: StoredRelease | null): StoredRelease | null => {
    if (stored === null || stored.list === sha256) return stored;
    const blobs = new Set(blobsOf(releases.find(({ version }) => version === stored.version)?.files ?? []).map((blob) => blob.sha256));
    return stored.files.every((file) => blobs.has(file.sha256)) ? { ...stored, list: sha256 } : stored;
  };
  const { active, previous } = storedModel(state, name);
  const found = { active: again(active), previous: again(previous) };
  return found.active === active && found.previous === previous ? state : withModel(state, name, found);
}

async function takeRelease(updated: Updated, fitting: Fitting, list: string): Promise<Outcome> {
  const { channel, backend, model, options, signal, tell } = updated;
  const { platform, address } = channel;
  const { release, files } = fitting;
  const state = await channel.ledger.read();
  if (hasFailedHere(state, model.name, release.version)) {
    const reason = `version ${release.version} did not start: it is tried again when the app is started the next time`;
    return ended('waiting', reason);
  }
  const gathering: Gathering = {
    platform,
    address: `${address}targets/${model.name}/`,
    packaged: packagedFiles(model, backend),
    signal,
    tell: (phase, loadedBytes, totalBytes) => {
      tell({ phase, loadedBytes, totalBytes, reason: '' });
    },
  };
  const blobs = blobsOf(files);
  const shopping = await shoppingFor(blobs, gathering);
  if (shopping.missing.length > 0) {
    const reason = await reasonToWait(release.conditions, options, platform);
    if (reason !== '') return ended('waiting', reason);
    const present = blobs.filter((blob) => shopping.missing.every((each) => each.blob !== blob));
    await checkRoom(shopping, [...filesInUse(state), ...present], options.limitBytes, platform);
    await shopping.get();
  }
  const stored: StoredRelease = {
    list,
    version: release.version,
    number: release.number,
    files: blobs.map(({ sha256, sizeBytes }) => ({ sha256, sizeBytes })),
  };
  return activate(updated, fitting, stored);
}

/** Counts the attempt before it is made: whoever is killed by it twice does not try a third time. */
async function activate(updated: Updated, fitting: Fitting, stored: StoredRelease): Promise<Outcome> {
  const { channel, model } = updated;
  const { ledger, platform } = channel;
  const { name } = model;
  const { version } = stored;
  const { trying } = storedModel(await ledger.read(), name);
  const attempt = `trying ${name}`;
  const count = trying?.version === version ? await fatal(trying.count, attempt, platform.attempts) : 0;
  if (count >= MOST_ATTEMPTS) return banned(updated, version, 'the app ended twice while it was tried');
  await ledger.changeModel(name, () => ({ trying: { version, count: count + 1 } }));
  await platform.attempts?.begin(attempt);
  try {
    return await tried(updated, fitting, stored);
  } finally {
    await platform.attempts?.end(attempt);
  }
}

async function tried(updated: Updated, fitting: Fitting, stored: StoredRelease): Promise<Outcome> {
  const { channel, backend, model, taker, options, tell } = updated;
  const { ledger, platform } = channel;
  const { name } = model;
  tell({ phase: 'trying', reason: '' });
  const { fallback = 'bundled' } = options;
  try {
    await tryRelease({ model, backend, platform, providers: taker.providers, fallback }, fitting);
  } catch (reason) {
    const error = toModelError(reason);
    const fault = faultOf(error);
    const isCounted = fault === 'runtime' && platform.attempts?.isSeen(`trying ${name}`) !== false;
    if (fault === 'release' || (isCounted && (await failsTooOften(channel, name, stored.version)))) {
      return banned(updated, stored.version, error.message);
    }
    await ledger.changeModel(name, () => ({ trying: null }));
    throw error;
  }
  await ledger.change((state) => {
    const model = storedModel(state, name);
    const { failing } = withoutFailing(model, stored.version);
    return withModel(state, name, { active: stored, previous: model.active, trying: null, opening: null, failing });
  });
  return ended('ready');
}

async function banned({ channel, model, options }: Updated, version: string, reason: string): Promise<Outcome> {
  const release = { model: model.name, version, reason };
  return ended('failed', await ban(channel, release, [options.observer], () => ({ trying: null })));
}

function isSame(active: StoredRelease, { release, files }: Fitting): boolean {
  const found = active.files.map(({ sha256 }) => sha256);
  return active.version === release.version && blobsOf(files).every(({ sha256 }) => found.includes(sha256));
}

function wantedOf({ files }: Fitting): readonly string[] {
  return blobsOf(files).flatMap(({ sha256, deltas }) => [sha256, ...deltas.map((delta) => delta.sha256)]);
}

function ended(phase: UpdatePhase, reason = ''): Outcome {
  return { phase, reason, wanted: [], isFailure: false };
}

/** Whether the device is among the first `percent` of 100 that a salt makes. */
async function takesPart({ platform }: Channel, { device }: StoredState, percent: number, salt: string): Promise<boolean> {
  if (percent >= 100) return true;
  const digest = await platform.sha256(utf8Bytes(salt + device));
  return Math.floor((Number.parseInt(digest.slice(0, 8), 16) * 100) / 2 ** 32) < percent;
}
