// What an updater remembers, and its text: `state.json`.

import { Fields, FormError } from './fields.js';
import type { Blob } from './platform.js';

/** A release that was tried on this device. */
export interface StoredRelease {
  /** SHA-256 of the list that it came with. */
  readonly list: string;
  readonly version: string;
  readonly number: number;
  readonly files: readonly Blob[];
}

/** How often something was begun that has not ended. */
export interface Attempts {
  readonly version: string;
  readonly count: number;
}

/** A version that is not used for some time. */
export interface Ban {
  readonly version: string;
  readonly reason: string;
  /** Milliseconds since 1970. */
  readonly until: number;
}

/** In how many starts of the app ONNX Runtime has failed at a version. */
export interface Failing {
  readonly version: string;
  readonly starts: number;
}

/** State that is kept of a model. */
export interface StoredModel {
  /** Release that the next load opens; null for the app's own. */
  readonly active: StoredRelease | null;
  readonly previous: StoredRelease | null;
  readonly trying: Attempts | null;
  readonly opening: Attempts | null;
  readonly banned: readonly Ban[];
  readonly failing: Failing | null;
}

/** State that an updater keeps. */
export interface StoredState {
  /** Made once: which devices take part in a rollout. */
  readonly device: string;
  /** The largest time at which metadata was published, in milliseconds since 1970: it is not earlier now. */
  readonly latest: number;
  /** Milliseconds since 1970. */
  readonly notBefore: number;
  /** One after the other. */
  readonly failures: number;
  readonly isFrozen: boolean;
  /** Versions by the models' names. */
  readonly pins: ReadonlyMap<string, string>;
  readonly models: ReadonlyMap<string, StoredModel>;
}

const SCHEMA = 1;
const NOTHING: StoredModel = { active: null, previous: null, trying: null, opening: null, banned: [], failing: null };

export function emptyState(device: string): StoredState {
  return { device, latest: 0, notBefore: 0, failures: 0, isFrozen: false, pins: new Map(), models: new Map() };
}

export function storedModel(state: StoredState, name: string): StoredModel {
  return state.models.get(name) ?? NOTHING;
}

/** The state with another one of a model. */
export function withModel(state: StoredState, name: string, change: Partial<StoredModel>): StoredState {
  return { ...state, models: new Map([...state.models, [name, { ...storedModel(state, name), ...change }]]) };
}

/** A model without one of its releases. */
export function without({ active, previous }: StoredModel, version: string): Partial<StoredModel> {
  const [first = null, second = null] = [active, previous].filter((each) => each !== null && each.version !== version);
  return { active: first, previous: second, opening: null };
}

/** The time, in milliseconds since 1970: a clock that is behind what was published is wrong. */
export function timeOf({ latest }: StoredState): number {
  return Math.max(Date.now(), latest);
}

/** Files of the releases that may be opened. */
export function filesInUse(state: StoredState): readonly Blob[] {
  return [...state.models.values()].flatMap(({ active, previous }) => [...(active?.files ?? []), ...(previous?.files ?? [])]);
}

/** Lists of the releases that may be opened. */
export function listsInUse(state: StoredState): readonly string[] {
  return [...state.models.values()].flatMap(({ active, previous }) => [active?.list ?? '', previous?.list ?? '']);
}

export function writeState(state: StoredState): string {
  return JSON.stringify({
    schema: SCHEMA,
    device: state.device,
    latest: state.latest,
    'not-before': state.notBefore,
    failures: state.failures,
    frozen: state.isFrozen,
    pins: Object.fromEntries(state.pins),
    models: Object.fromEntries(state.models),
  });
}

/** @throws FormError, or SyntaxError for what is no JSON */
export function readState(text: string): StoredState {
  const fields = new Fields(JSON.parse(text), 'state');
  if (fields.whole('schema') !== SCHEMA) throw new FormError('state is of another schema');
  return {
    device: fields.text('device'),
    latest: fields.whole('latest'),
    notBefore: fields.whole('not-before'),
    failures: fields.whole('failures'),
    isFrozen: fields.flag('frozen'),
    pins: fields.map('pins', (each, name) => each.text(name)),
    models: fields.map('models', (each, name) => readModel(each.object(name))),
  };
}

function readModel(fields: Fields): StoredModel {
  return {
    active: fields.optional('active', readRelease),
    previous: fields.optional('previous', readRelease),
    trying: fields.optional('trying', readAttempts),
    opening: fields.optional('opening', readAttempts),
    banned: fields.list('banned', readBan),
    failing: fields.optional('failing', (each) => ({ version: each.text('version'), starts: each.whole('starts') })),
  };
}

/** Earlier versions have banned for ever, and for less: that has ended. */
function readBan(fields: Fields): Ban {
  const until = fields.has('until') ? fields.whole('until') : 0;
  return { version: fields.text('version'), reason: fields.text('reason'), until };
}

function readRelease(fields: Fields): StoredRelease {
  return {
    list: fields.sha256('list'),
    version: fields.name('version'),
    number: fields.whole('number'),
    files: fields.list('files', (each) => ({ sha256: each.sha256('sha256'), sizeBytes: each.whole('sizeBytes') })),
  };
}

function readAttempts(fields: Fields): Attempts {
  return { version: fields.text('version'), count: fields.whole('count') };
}
