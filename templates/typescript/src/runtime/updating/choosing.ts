// Which release of a model a device gets.

import type { Provider } from '../descriptor.js';
import { releaseNumber } from './delivery.js';
import type { ChannelFile, ChannelRelease } from './listed.js';
import type { Build } from './platform.js';

/** A device and its app. */
export interface Taker {
  /** Number of the app's package. */
  readonly number: number;
  readonly contract: string;
  readonly build: Build;
  /** Empty where nobody says. */
  readonly chip: string;
  /** Whose files are wanted. */
  readonly providers: readonly Provider[];
  readonly banned: ReadonlySet<string>;
  /** The one version that may be taken; undefined for any. */
  readonly pin: string | undefined;
  /** Whether the device is among the first `percent` of 100 that a salt makes. */
  readonly takesPart: (percent: number, salt: string) => Promise<boolean>;
}

/** A release, and the files of it that the device opens. */
export interface Fitting {
  readonly release: ChannelRelease;
  readonly files: readonly ChannelFile[];
}

/** `own`: the app's own model is as new, or newer. Null: nothing fits. */
export type Choice = Fitting | 'own' | null;

/** The first release that fits. */
export async function choose(releases: readonly ChannelRelease[], taker: Taker): Promise<Choice> {
  for (const release of releases) {
    const files = filesFor(release.files, taker);
    if (!mayTake(release, taker) || files.length === 0) continue;
    if (!(await taker.takesPart(release.rollout.percent, release.rollout.salt))) continue;
    return release.number <= taker.number ? 'own' : { release, files };
  }
  return null;
}

function mayTake({ version, contract, minApp }: ChannelRelease, taker: Taker): boolean {
  if (contract !== taker.contract || taker.banned.has(version)) return false;
  if (taker.pin !== undefined && taker.pin !== version) return false;
  return minApp === '' || releaseNumber(minApp) <= taker.number;
}

/** The first fitting file of each provider that is wanted. A wrapper has files of its own only where they differ. */
export function filesFor(
  files: readonly ChannelFile[],
  { build, chip, providers }: Pick<Taker, 'build' | 'chip' | 'providers'>,
): readonly ChannelFile[] {
  const { target, inside, runtime } = build;
  const ofTarget = files.filter((file) => file.target === target);
  const ofWrapper = ofTarget.filter((file) => file.inside === inside);
  const own = ofWrapper.length > 0 ? ofWrapper : ofTarget.filter((file) => file.inside === '');
  const fitting = own.filter(
    (file) => isRuntimeIn(runtime, file) && (file.chips.length === 0 || file.chips.includes(chip)),
  );
  return [...new Set<string>(providers)].flatMap((provider) => {
    const found = fitting.find((file) => file.provider === provider);
    return found === undefined ? [] : [found];
  });
}

/** A range is as in `1.29`, which is from there on below 2, or as in `[1.29,1.32)`. */
function isRuntimeIn(runtime: string, file: ChannelFile): boolean {
  if (file.runtime === runtime) return true;
  const [, low, high = '2'] = /^\[?(\d+(?:\.\d+)*)(?:,(\d+(?:\.\d+)*)\))?$/.exec(file.runtimeRange) ?? [];
  const found = /(\d+(?:\.\d+)+)\D*$/.exec(runtime)?.[1];
  if (low === undefined || found === undefined) return false;
  return releaseNumber(low) <= releaseNumber(found) && releaseNumber(found) < releaseNumber(high);
}
