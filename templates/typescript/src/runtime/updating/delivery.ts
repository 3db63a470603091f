// What generated code says of the channel that delivers a package's models.

import type { Backend, Platform } from '../backend.js';
import { isSecure } from '../downloadRequest.js';
import type { Trust } from '../trust.js';
import type { Build, UpdatePlatform } from './platform.js';

/** A channel of a package, as the package was built for it. */
export interface Delivery {
  readonly packageName: string;
  readonly channel: string;
  /** Version of the package. */
  readonly version: string;
  /** Number of the release: it grows with the version. */
  readonly number: number;
  /** Hashes of the models' contracts, in hexadecimal, by the models' names. */
  readonly contracts: Readonly<Record<string, string>>;
  readonly builds: Readonly<Partial<Record<Platform, Build>>>;
  /** Root metadata that the app trusts at first. */
  readonly root: string;
  /** Verifies signatures. */
  readonly trust: Pick<Trust, 'isSigned'>;
  /**
   * Opens the folder of the channel.
   *
   * @throws ModelError `unsupported` where nothing can be kept
   */
  readonly open: (backend: Backend) => UpdatePlatform;
}

const MINOR = 2 ** 20;
const MAJOR = 2 ** 40;

/** The place of a version in the order of releases, as docs/signing.md has it: a pre-release has that of its release. */
export function releaseNumber(version: string): number {
  const [core = ''] = version.split(/[+-]/);
  const [major = 0, minor = 0, patch = 0] = core.split('.').map((part) => (/^\d+$/.test(part) ? Number(part) : 0));
  return Math.min(major, 2 ** 13 - 1) * MAJOR + Math.min(minor, MINOR - 1) * MINOR + Math.min(patch, MINOR - 1);
}

/** Whether nobody on the way can change what is sent: by `https:`, or within the device on which a page is developed. */
export function isSafe(address: string): boolean {
  const { location } = globalThis as { readonly location?: { readonly href: string } };
  return isSecure(address) || (isOfThisDevice(address) && isOfThisDevice(location?.href ?? ''));
}

function isOfThisDevice(address: string): boolean {
  return /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?\//.test(address);
}
