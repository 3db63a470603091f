// Which releases are banned: those that are at fault, not those that a device had no room, no worker or no time for.

import type { ModelError } from '../errors.js';
import type { ModelObserver } from '../observer.js';
import { tell } from '../observing.js';
import type { Channel } from './channel.js';
import { storedModel, timeOf, withModel, type StoredModel, type StoredState } from './state.js';

/**
 * The part at fault where a release cannot be opened, or computes something else:
 *
 * - `release`: it is the same everywhere.
 * - `runtime`: ONNX Runtime has failed, for a reason that may pass.
 * - `device`: its memory, storage or network, or what hosts models.
 */
export type Fault = 'release' | 'runtime' | 'device';

const BAN_DAYS = 30;
/** How long a version is banned, in milliseconds. */
export const BAN_MS: number = BAN_DAYS * 24 * 3_600_000;
/** Starts of the app in which ONNX Runtime fails at a version: the last one bans it. */
const MOST_STARTS = 3;
/** Attempts to open a version that ended the app: one more is not made. */
export const MOST_ATTEMPTS = 2;

/** Failures of ONNX Runtime in this start of the app, while somebody saw the app. */
const failedHere = new Set<string>();

/** For files that are whole: the faults of others are those of the device's storage. */
export function faultOf({ code }: ModelError): Fault {
  if (code === 'bad-model' || code === 'bad-input' || code === 'corrupted') return 'release';
  return code === 'runtime' ? 'runtime' : 'device';
}

/** Whether ONNX Runtime has failed at a version since the app was started: it is not tried again before the next start. */
export function hasFailedHere(state: StoredState, model: string, version: string): boolean {
  return failedHere.has(keyOf(state, model, version));
}

/** Notes that ONNX Runtime has failed at a version. Whether it has in so many starts of the app that the version is banned. */
export async function failsTooOften({ ledger }: Channel, model: string, version: string): Promise<boolean> {
  const before = await ledger.read();
  if (hasFailedHere(before, model, version)) return false;
  failedHere.add(keyOf(before, model, version));
  const state = await ledger.changeModel(model, ({ failing }) => ({
    failing: { version, starts: failing?.version === version ? failing.starts + 1 : 1 },
  }));
  return (storedModel(state, model).failing?.starts ?? 0) >= MOST_STARTS;
}

/** Bans a version from now on, and changes what else is known of the model. Gives words about it. */
export async function ban(
  { ledger }: Channel,
  { model, version, reason }: { readonly model: string; readonly version: string; readonly reason: string },
  observers: readonly (ModelObserver | undefined)[],
  change: (model: StoredModel) => Partial<StoredModel>,
): Promise<string> {
  await ledger.change((state) => {
    const stored = storedModel(state, model);
    const now = timeOf(state);
    const others = stored.banned.filter((each) => each.version !== version && holds(each.until, now));
    return withModel(state, model, {
      ...change(stored),
      ...withoutFailing(stored, version),
      banned: [...others, { version, reason, until: now + BAN_MS }],
    });
  });
  for (const observer of new Set(observers)) tell(() => observer?.onBan?.({ model, version, reason }));
  return `version ${version} is not used for ${String(BAN_DAYS)} days: ${reason}`;
}

/** Versions that are banned now. */
export function bannedIn(state: StoredState, model: string): ReadonlySet<string> {
  const { banned } = storedModel(state, model);
  return new Set(banned.filter(({ until }) => holds(until, timeOf(state))).map(({ version }) => version));
}

/** State of a model whose version has started after all. */
export function withoutFailing({ failing }: StoredModel, version: string): Pick<StoredModel, 'failing'> {
  return { failing: failing?.version === version ? null : failing };
}

/** A ban that ends later than one from now on was made with another clock. */
function holds(until: number, now: number): boolean {
  return now < until && until <= now + BAN_MS;
}

function keyOf({ device }: StoredState, model: string, version: string): string {
  return `${device} ${model} ${version}`;
}
