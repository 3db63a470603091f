// Follows TUF's client workflow (section 5 of its specification, 1.0): nothing is kept or believed that was not verified.

import { ModelError } from '../errors.js';
import { ModelUntrustedError } from '../trust.js';
import { utf8Bytes, utf8Text, type Bytes } from '../trustBytes.js';
import type { Channel } from './channel.js';
import { Fields } from './fields.js';
import { readReleases, type ChannelRelease } from './listed.js';
import type { UpdatePlatform } from './platform.js';
import { understood, verified, wrong, type Metadata, type Role, type Target, type Vouched } from './tufMetadata.js';

/** Releases of a model that a channel has; the newest is the first. */
export interface Listed {
  /** SHA-256 of the list, which is kept; empty where the channel has none. */
  readonly sha256: string;
  readonly releases: readonly ChannelRelease[];
}

/** A list of releases, and the metadata that vouches for it. */
interface KeptList {
  /** The role `targets`, and those that it delegates to, down to the one that names the list. */
  readonly roles: readonly Pick<Metadata, 'name' | 'text'>[];
  readonly list: string;
}

/** Metadata is too old to be followed. */
export class ExpiredError extends ModelError {}

const MOST_BYTES = { root: 512_000, timestamp: 16_384, snapshot: 2_000_000, targets: 5_000_000 };
/** Roles whose keys are rotated where a thief has had them. */
const ROTATED = ['timestamp', 'snapshot'];
const MOST_ROOTS = 256;
const MOST_ROLES = 32;
const OK = 200;
const NOT_FOUND = 404;
const DAY_MS = 24 * 3_600_000;
/** Ends of metadata and of bans, by a clock that is further behind, say nothing. */
const MOST_DAYS_BEHIND = 30;

/** The metadata of a channel during an update. */
export class TufClient {
  /** The largest time that verified metadata was published at, in milliseconds since 1970: it is not earlier now. */
  latest: number;
  private readonly channel: Channel;
  private readonly signal: AbortSignal | undefined;
  private readonly began: number = Date.now();
  private top: { readonly root: Metadata; readonly snapshot: Metadata } | null = null;

  constructor(channel: Channel, latest: number, signal: AbortSignal | undefined) {
    this.channel = channel;
    this.latest = latest;
    this.signal = signal;
  }

  /** Words about a clock that is behind; empty for others. */
  get warning(): string {
    return this.daysBehind > 0 ? `the clock of the device is ${String(this.daysBehind)} days behind the channel` : '';
  }

  private get daysBehind(): number {
    return Math.floor((this.latest - this.began) / DAY_MS);
  }

  /** Asks for the newest root, timestamp and snapshot: 5.2 to 5.5. */
  async refresh(): Promise<void> {
    const root = await this.newestRoot();
    const timestamp = await this.newestTimestamp(root);
    const snapshot = await this.role('snapshot', root, timestamp);
    this.top = { root, snapshot };
  }

  /** The releases of a model, once `refresh` has ended: 5.6 and 5.7. */
  async releasesOf(model: string): Promise<Listed> {
    const { delivery, platform } = this.channel;
    const path = listPath(model);
    const { roles, file } = await this.find(path);
    if (file === null) return { sha256: '', releases: [] };
    const { sha256 } = file;
    const kept = await readKept(platform, listName(sha256));
    let { list } = keptList(kept);
    if (!(await isVouched(utf8Bytes(list), file, platform))) {
      const limit = Math.min(file.sizeBytes, MOST_BYTES.targets);
      list = await this.wanted(`targets/${model}/${sha256}.releases.json`, limit, { ...file, name: path });
    }
    const releases = understood(path, () => readReleases(list, delivery, model));
    const text = JSON.stringify({ roles: roles.map(({ name, text }) => ({ name, text })), list });
    if (text !== kept) await platform.writeText(listName(sha256), text);
    return { sha256, releases };
  }

  /** Keeps the largest time that was seen. */
  async remember(): Promise<void> {
    await this.channel.ledger.change((state) => (state.latest === this.latest ? state : { ...state, latest: this.latest }));
  }

  private async newestRoot(): Promise<Metadata> {
    const { platform } = this.channel;
    let root = this.seen(await keptRoot(this.channel));
    for (let count = 0; count < MOST_ROOTS; count += 1) {
      const bytes = await this.ask(this.inChannel(root.version + 1, 'root'), MOST_BYTES.root);
      if (bytes === null) break;
      const next = await nextRoot(textOf(bytes), root, this.channel);
      // What a thief of keys has published ends with them (5.3.11): his versions, and his time, before the root is known.
      if (ROTATED.some((name) => signersOf(root, name) !== signersOf(next, name))) {
        for (const name of ROTATED) await platform.removeText(metadataName(name));
        this.latest = next.published;
        await this.remember();
      }
      await platform.writeText(rootName(next.version), next.text);
      root = this.seen(next);
    }
    this.refuseExpired(root);
    return root;
  }

  private async newestTimestamp(root: Metadata): Promise<Metadata> {
    const kept = await this.kept('timestamp', root);
    const text = await this.wanted(this.inChannel(null, 'timestamp'), MOST_BYTES.timestamp);
    const asked = this.seen(await verified(text, 'timestamp', [root], this.channel.delivery));
    if (kept?.version === asked.version) {
      this.refuseExpired(kept);
      return kept;
    }
    refuseOlder(asked, kept);
    return this.keep(asked);
  }

  /** Metadata of a role in the version that `by` names: what is kept, or else what the server has. */
  private async role(name: string, delegator: Metadata, by: Metadata): Promise<Metadata> {
    const file = by.meta.get(`${name}.json`);
    if (file === undefined) throw wrong(by.name, `it does not name ${name}`);
    const { version, sizeBytes } = file;
    const kept = await this.kept(name, delegator);
    if (kept?.version === version && (await isVouched(utf8Bytes(kept.text), file, this.channel.platform))) {
      this.refuseExpired(kept);
      return kept;
    }
    const limit = sizeBytes ?? (name === 'snapshot' ? MOST_BYTES.snapshot : MOST_BYTES.targets);
    const text = await this.wanted(this.inChannel(version, name), limit, { ...file, name });
    const role = this.seen(await verified(text, name, [delegator], this.channel.delivery));
    if (role.version !== version) throw wrong(name, `it has version ${String(role.version)}, not ${String(version)}`);
    if (name === 'snapshot') refuseOlder(role, kept);
    return this.keep(role);
  }

  /** The first role that names a target: a role is asked before those that it delegates to, and these before those after it. */
  private async find(path: string): Promise<{ readonly roles: readonly Metadata[]; readonly file: Target | null }> {
    if (this.top === null) throw new ModelError('bad-options', 'nothing was asked yet');
    const { root, snapshot } = this.top;
    const visited = new Set<string>();
    let next: readonly { readonly name: string; readonly roles: readonly Metadata[] }[] = [{ name: 'targets', roles: [] }];
    while (next.length > 0 && visited.size <= MOST_ROLES) {
      const [{ name, roles } = { name: '', roles: [] }, ...rest] = next;
      next = rest;
      if (visited.has(name)) continue;
      visited.add(name);
      const role = await this.role(name, roles[roles.length - 1] ?? root, snapshot);
      const file = role.target(path);
      if (file !== null) return { roles: [...roles, role], file };
      const delegations = await delegationsOf(role, path, this.channel.platform);
      const isLast = delegations.some(({ isTerminating }) => isTerminating);
      next = [...delegations.map((each) => ({ name: each.name, roles: [...roles, role] })), ...(isLast ? [] : rest)];
    }
    return { roles: [], file: null };
  }

  /** Kept metadata; null where there is none, or it is not believed any more. */
  private async kept(name: string, delegator: Metadata): Promise<Metadata | null> {
    const { platform, delivery } = this.channel;
    const text = await readKept(platform, metadataName(name));
    if (text === null) return null;
    return verified(text, name, [delegator], delivery).then(
      (metadata) => this.seen(metadata),
      () => null,
    );
  }

  private async keep(metadata: Metadata): Promise<Metadata> {
    this.refuseExpired(metadata);
    await this.channel.platform.writeText(metadataName(metadata.name), metadata.text);
    return metadata;
  }

  private seen(metadata: Metadata): Metadata {
    this.latest = Math.max(this.latest, metadata.published);
    return metadata;
  }

  /** A clock that is behind what was published is wrong. */
  private refuseExpired({ name, version, expires }: Metadata): void {
    if (expires > Math.max(this.began, this.latest)) {
      if (this.daysBehind > MOST_DAYS_BEHIND) throw new ModelError('network', `${this.warning}: set it`);
      return;
    }
    const when = new Date(expires).toISOString();
    const words = `${name} ${String(version)} of the channel has expired ${when}: renew it with \`mobpack channel renew\``;
    throw new ExpiredError('network', this.warning === '' ? words : `${words}; ${this.warning}`);
  }

  private inChannel(version: number | null, name: string): string {
    const number = version === null ? '' : `${String(version)}.`;
    return `${this.channel.delivery.channel}/${number}${encodeURIComponent(name)}.json`;
  }

  /** The text of a file, which must be as it was vouched for. */
  private async wanted(path: string, limitBytes: number, file?: Vouched & { readonly name: string }): Promise<string> {
    const bytes = await this.ask(path, limitBytes);
    if (bytes === null) throw new ModelError('network', `${this.channel.address}${path} answers with status ${String(NOT_FOUND)}`);
    if (file === undefined || (await isVouched(bytes, file, this.channel.platform))) return textOf(bytes);
    throw wrong(file.name, 'its length or its sha256 is not the one that was signed');
  }

  /** Null where the server has no such file. */
  private async ask(path: string, limitBytes: number): Promise<Bytes | null> {
    const { address, platform } = this.channel;
    const { status, bytes } = await platform.ask(`${address}${path}`, limitBytes, this.signal);
    if (status === OK) return bytes;
    if (status === NOT_FOUND) return null;
    throw new ModelError('network', `${address}${path} answers with status ${String(status)}`);
  }
}

/**
 * Releases that are kept, verified as if they had just come, but for their end and their version; null for those that are
 * missing or damaged, or whose keys were revoked.
 */
export async function keptReleases(channel: Channel, model: string, sha256: string): Promise<readonly ChannelRelease[] | null> {
  const { delivery, platform } = channel;
  const path = listPath(model);
  try {
    const { roles, list } = keptList(await readKept(platform, listName(sha256)));
    let role = await keptRoot(channel);
    for (const each of roles) {
      const isDelegated = role.name === 'root' || (await delegationsOf(role, path, platform)).some(({ name }) => name === each.name);
      if (!isDelegated) return null;
      role = await verified(each.text, each.name, [role], delivery);
    }
    const file = role.target(path);
    if (file?.sha256 !== sha256 || !(await isVouched(utf8Bytes(list), file, platform))) return null;
    return readReleases(list, delivery, model);
  } catch {
    return null;
  }
}

/** SHA-256 of a list of releases by the name of its text; empty for other texts. */
export function listOf(name: string): string {
  return /^releases\/([0-9a-f]{64})\.json$/.exec(name)?.[1] ?? '';
}

/** The newest root that is known here: that of the app, and those that were kept since. */
async function keptRoot(channel: Channel): Promise<Metadata> {
  const { delivery, platform } = channel;
  let root = await verified(delivery.root, 'root', [], delivery);
  for (;;) {
    const text = await readKept(platform, rootName(root.version + 1));
    const next = text === null ? null : await nextRoot(text, root, channel).catch(() => null);
    if (next === null) return root;
    root = next;
  }
}

async function nextRoot(text: string, before: Metadata, { delivery }: Channel): Promise<Metadata> {
  const root = await verified(text, 'root', [before], delivery);
  if (root.version === before.version + 1) return root;
  throw wrong('root', `version ${String(root.version)} is given after ${String(before.version)}`);
}

/** Neither metadata nor what it names may become older. */
function refuseOlder(next: Metadata, kept: Metadata | null): void {
  if (kept === null) return;
  const { name, version } = kept;
  const older = [...kept.meta].find(([file, known]) => (next.meta.get(file)?.version ?? 0) < known.version);
  if (next.version >= version && older === undefined) return;
  const what = older === undefined ? `${name} ${String(next.version)}` : `${older[0]} in ${name} ${String(next.version)}`;
  throw new ModelUntrustedError('rolled-back', `the channel was rolled back: ${what} is older than in ${String(version)}, or missing, which was seen before`);
}

/** Roles that a role delegates a target to, up to the one after which no other is asked. */
async function delegationsOf({ roles }: Metadata, path: string, platform: UpdatePlatform): Promise<readonly Role[]> {
  const sha256 = await platform.sha256(utf8Bytes(path));
  const found = [...roles.values()].filter(
    ({ paths, prefixes }) => paths.some((each) => isMatch(path, each)) || prefixes.some((each) => sha256.startsWith(each)),
  );
  const last = found.findIndex(({ isTerminating }) => isTerminating);
  return last < 0 ? found : found.slice(0, last + 1);
}

/** Whether a path matches a pattern, in which no wildcard means a slash. */
function isMatch(path: string, pattern: string): boolean {
  const source = pattern.replace(/\*|\?|\[(!?)([^\]/]+)\]|[^A-Za-z0-9]/g, (each: string, not?: string, set?: string) => {
    if (set !== undefined) return `(?!/)[${not === '' ? '' : '^'}${set.replace(/[\\^[]/g, '\\$&')}]`;
    return each === '*' ? '[^/]*' : each === '?' ? '[^/]' : `\\${each}`;
  });
  return new RegExp(`^${source}$`).test(path);
}

/** Keys of a role, and how many of them must sign. */
function signersOf({ roles, keys }: Metadata, name: string): string {
  const { keyids = [], threshold = 0 } = roles.get(name) ?? {};
  return [threshold, ...keyids.map((id) => keys.get(id) ?? '').sort()].join();
}

async function isVouched(bytes: Bytes, { sizeBytes, sha256 }: Vouched, platform: UpdatePlatform): Promise<boolean> {
  if (sizeBytes !== null && bytes.length !== sizeBytes) return false;
  return sha256 === null || (await platform.sha256(bytes)) === sha256;
}

/** An empty one where it is missing or damaged. */
function keptList(text: string | null): KeptList {
  try {
    const fields = new Fields(JSON.parse(text ?? ''), 'the list');
    const roles = fields.list('roles', (each) => ({ name: each.text('name'), text: each.text('text') }));
    return { roles, list: fields.text('list') };
  } catch {
    return { roles: [], list: '' };
  }
}

async function readKept(platform: UpdatePlatform, name: string): Promise<string | null> {
  return platform.readText(name).catch(() => null);
}

/** Empty for bytes that are no text. */
function textOf(bytes: Bytes): string {
  return utf8Text(bytes) ?? '';
}

function rootName(version: number): string {
  return metadataName(`${String(version)}.root`);
}

function metadataName(role: string): string {
  return `metadata/${encodeURIComponent(role)}.json`;
}

function listName(sha256: string): string {
  return `releases/${sha256}.json`;
}

function listPath(model: string): string {
  return `${model}/releases.json`;
}
