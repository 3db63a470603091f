// The update of one model: chosen, downloaded, tried, and then the next to be opened.

import type { Backend } from '../backend.js';
import type { ModelDescriptor } from '../descriptor.js';
import { toModelError } from '../errors.js';
import type { Channel } from './asking.js';
import { fatal } from './attempts.js';
import { ban, failsTooOften, faultOf, hasFailedHere, MOST_ATTEMPTS, withoutFailing } from './banning.js';
import { choose, type Fitting, type Taker } from './choosing.js';
import { checkRoom, shoppingFor, type Gathering } from './gathering.js';
import { blobsOf, packagedFiles } from './releases.js';
import { filesInUse, storedModel, withModel, type StoredRelease, type StoredState } from './state.js';
import type { UpdateOptions, UpdatePhase, UpdateState } from './states.js';
import { tryRelease } from './trying.js';
import type { Verified } from './verifying.js';
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
  /** SHA-256 of files that an update which has not ended wants to find. */
  readonly wanted: readonly string[];
  /** Whether the next attempt has to be later. */
  readonly isFailure: boolean;
}

/** @throws ModelError `cancelled` */
export async function updateModel(updated: Updated, verified: Verified): Promise<Outcome> {
  const { channel, model, taker } = updated;
  const releases = verified.document.models.get(model.name) ?? [];
  const state = await channel.ledger.read();
  const choice = await choose(releases, { ...taker, takesPart: (percent, salt) => takesPart(channel, state, percent, salt) });
  if (choice === null) return ended('up-to-date');
  if (choice === 'own') {
    await channel.ledger.changeModel(model.name, (stored) =>
      stored.active === null && stored.previous === null ? {} : { active: null, previous: null, opening: null },
    );
    return ended('up-to-date');
  }
  const { active } = storedModel(state, model.name);
  if (active !== null && isSame(active, choice)) return ended('up-to-date');
  try {
    return await takeRelease(updated, choice, verified.sha256, state);
  } catch (reason) {
    const error = toModelError(reason);
    if (error.code === 'cancelled') throw error;
    // A full disk is not empty sooner because nobody asks.
    return { ...ended('failed', error.message), wanted: wantedOf(choice), isFailure: error.code !== 'no-space' };
  }
}

async function takeRelease(updated: Updated, fitting: Fitting, document: string, state: StoredState): Promise<Outcome> {
  const { channel, backend, model, options, signal, tell } = updated;
  const { platform, address } = channel;
  const { release, files } = fitting;
  if (hasFailedHere(state, model.name, release.version)) {
    const reason = `version ${release.version} did not start: it is tried again when the app is started the next time`;
    return { ...ended('waiting', reason), wanted: wantedOf(fitting) };
  }
  const gathering: Gathering = {
    platform,
    address,
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
    if (reason !== '') return { ...ended('waiting', reason), wanted: wantedOf(fitting) };
    const present = blobs.filter((blob) => shopping.missing.every((each) => each.blob !== blob));
    await checkRoom(shopping, [...filesInUse(state), ...present], options.limitBytes, platform);
    await shopping.get();
  }
  const stored: StoredRelease = {
    document,
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

/** Not every engine has a TextEncoder. */
function utf8Bytes(text: string): Uint8Array<ArrayBuffer> {
  const escaped = encodeURIComponent(text).match(/%..|[^%]/g) ?? [];
  return Uint8Array.from(escaped, (each) => (each.length > 1 ? Number.parseInt(each.slice(1), 16) : each.charCodeAt(0)));
}
