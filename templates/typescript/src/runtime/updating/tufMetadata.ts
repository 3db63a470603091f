// Reads metadata of The Update Framework (TUF 1.0), once enough keys have signed it.

import { ModelUntrustedError } from '../trust.js';
import { base64Bytes, base64Text, hexBytes, signatureNumbers, utf8Bytes, type Bytes } from '../trustBytes.js';
import type { Delivery } from './delivery.js';
import { distinct, Fields, FormError } from './fields.js';

/** A role: whose signatures it needs, and of which targets it speaks where another role delegates to it. */
export interface Role {
  readonly name: string;
  readonly keyids: readonly string[];
  readonly threshold: number;
  readonly isTerminating: boolean;
  /** Patterns of paths, as shells have them. */
  readonly paths: readonly string[];
  /** Beginnings of the SHA-256 of paths. */
  readonly prefixes: readonly string[];
}

/** Facts of a file that metadata states; null where it does not. */
export interface Vouched {
  readonly sizeBytes: number | null;
  /** In hexadecimal. */
  readonly sha256: string | null;
}

/** Metadata of a role in another one. */
export interface Versioned extends Vouched {
  readonly version: number;
}

/** A target, which is no metadata. */
export interface Target extends Vouched {
  readonly sizeBytes: number;
  readonly sha256: string;
}

/** Metadata of a role, which was verified: what its kind does not have is empty. */
export interface Metadata {
  /** Name of the role. */
  readonly name: string;
  readonly text: string;
  readonly version: number;
  /** Milliseconds since 1970. */
  readonly expires: number;
  /** Milliseconds since 1970; 0 where it does not say. */
  readonly published: number;
  /** By their ids: SubjectPublicKeyInfo of P-256 in Base64, one form for each key; empty for other keys. */
  readonly keys: ReadonlyMap<string, string>;
  readonly roles: ReadonlyMap<string, Role>;
  /** Metadata of other roles, by the names of their files. */
  readonly meta: ReadonlyMap<string, Versioned>;
  /** Null where there is none of that path. */
  readonly target: (path: string) => Target | null;
}

/** Metadata that nobody has vouched for yet. */
interface Claimed extends Metadata {
  readonly payload: Bytes;
  /** In DER, by the ids of keys. */
  readonly signatures: ReadonlyMap<string, Bytes | null>;
  /** Package and channel, as one text; empty where it does not say. */
  readonly owner: string;
}

const TOP: ReadonlySet<string> = new Set(['root', 'timestamp', 'snapshot', 'targets']);
const MOST_DEPTH = 64;
/** How the key of an uncompressed point on P-256 begins. */
const P256 = 'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE';
const PEM = /^-----BEGIN PUBLIC KEY-----\s([A-Za-z0-9+/=\s]+)-----END PUBLIC KEY-----\s*$/;

/**
 * The metadata of the role `name`, that `delegators` have vouched for; root metadata vouches for itself, too.
 *
 * @throws ModelUntrustedError `wrong-signature`, or `swapped` for metadata of another package or channel
 */
export async function verified(text: string, name: string, delegators: readonly Metadata[], delivery: Delivery): Promise<Metadata> {
  const claimed = understood(name, () => read(text, name));
  for (const each of name === 'root' ? [...delegators, claimed] : delegators) await refuseUnsigned(claimed, each, delivery);
  const { packageName, channel } = delivery;
  const { owner } = claimed;
  if (owner === '' || owner === ownerOf(packageName, channel)) return claimed;
  throw new ModelUntrustedError(
    'swapped',
    `the ${name} is that of ${owner}, not of ${ownerOf(packageName, channel)}: give the updater the address of this package's channel`,
  );
}

/** Words for metadata that is not believed. */
export function wrong(name: string, reason: string, cause?: unknown): ModelUntrustedError {
  return new ModelUntrustedError('wrong-signature', `${name} of the channel is not to be trusted: ${reason}`, { cause });
}

async function refuseUnsigned(claimed: Claimed, delegator: Metadata, { trust }: Delivery): Promise<void> {
  const { name, version, payload, signatures } = claimed;
  const role = delegator.roles.get(name);
  if (role === undefined) throw wrong(name, `${delegator.name} has no such role`);
  const signers = new Set<string>();
  for (const id of role.keyids) {
    const key = delegator.keys.get(id) ?? '';
    const der = signatures.get(id) ?? null;
    const numbers = der === null ? null : signatureNumbers(der);
    const spki = base64Bytes(key);
    if (key === '' || spki === null || der === null || numbers === null || signers.has(key)) continue;
    if (await trust.isSigned(spki, payload, { der, numbers })) signers.add(key);
  }
  if (signers.size >= role.threshold) return;
  const words = `${String(signers.size)} of the keys that ${delegator.name} ${String(delegator.version)} names have signed it`;
  throw wrong(`${name} ${String(version)}`, `${words}, and ${String(role.threshold)} must`);
}

/** Gives the result of `read`; its error says that the metadata is not believed. */
export function understood<Value>(name: string, read: () => Value): Value {
  try {
    return read();
  } catch (reason) {
    throw wrong(name, reason instanceof Error ? reason.message : String(reason), reason);
  }
}

/** @throws FormError; SyntaxError for what is no JSON, RangeError or URIError for what no engine can take */
function read(text: string, name: string): Claimed {
  const parsed: unknown = JSON.parse(text);
  const envelope = new Fields(parsed, name);
  const signed = envelope.object('signed');
  const kind = TOP.has(name) ? name : 'targets';
  if (signed.text('_type') !== kind) throw new FormError(`it is no ${kind}, but ${signed.text('_type')}`);
  if (!/^1\.\d/.test(signed.text('spec_version'))) throw new FormError(`it follows version ${signed.text('spec_version')} of TUF, not 1`);
  const signatures = envelope.list('signatures', (each) => [each.text('keyid'), hexBytes(each.text('sig'))] as const);
  const delegations = kind === 'root' ? signed : kind === 'targets' ? signed.optional('delegations', (each) => each) : null;
  const targets = kind === 'targets' ? signed.object('targets') : null;
  const about = signed.optional('mobpack', (each) => each);
  return {
    name,
    text,
    version: signed.counted('version'),
    expires: signed.time('expires'),
    published: about?.time('published') ?? 0,
    keys: delegations?.map('keys', (keys, id) => keyOf(keys.object(id))) ?? new Map(),
    roles: rolesOf(kind, delegations),
    meta: kind === 'snapshot' || kind === 'timestamp' ? signed.map('meta', (files, file) => fileOf(files.object(file))) : new Map(),
    target: (path) => targets?.optional(path, targetOf) ?? null,
    payload: utf8Bytes(canonical((parsed as { readonly signed: unknown }).signed)),
    signatures: new Map(distinct(signatures, ([id]) => id, 'signature')),
    owner: about === null ? '' : ownerOf(about.text('package'), about.text('channel')),
  };
}

function rolesOf(kind: string, delegations: Fields | null): ReadonlyMap<string, Role> {
  if (delegations === null) return new Map();
  if (kind === 'root') return delegations.map('roles', (roles, name) => roleOf(roles.object(name), name));
  const found = delegations.list('roles', (each) => {
    const name = each.text('name');
    // These are names of other files.
    if (TOP.has(name) || /^(\d+\.root)?$/.test(name)) throw new FormError(`a role is called '${name}'`);
    return roleOf(each, name);
  });
  return new Map(distinct(found, ({ name }) => name, 'role').map((role) => [role.name, role]));
}

function roleOf(fields: Fields, name: string): Role {
  return {
    name,
    keyids: distinct(fields.texts('keyids'), (id) => id, 'key'),
    threshold: fields.counted('threshold'),
    isTerminating: fields.has('terminating') && fields.flag('terminating'),
    paths: fields.has('paths') ? fields.texts('paths') : [],
    prefixes: fields.has('path_hash_prefixes') ? fields.texts('path_hash_prefixes') : [],
  };
}

function keyOf(fields: Fields): string {
  if (fields.text('keytype') !== 'ecdsa' || fields.text('scheme') !== 'ecdsa-sha2-nistp256') return '';
  const [, body = ''] = PEM.exec(fields.object('keyval').text('public')) ?? [];
  const text = body.replace(/\s/g, '');
  const spki = text.startsWith(P256) ? base64Bytes(text) : null;
  return spki === null ? '' : base64Text(spki);
}

function fileOf(fields: Fields): Versioned {
  return {
    version: fields.counted('version'),
    sizeBytes: fields.has('length') ? fields.whole('length') : null,
    sha256: fields.optional('hashes', (hashes) => hashes.sha256('sha256')),
  };
}

function targetOf(fields: Fields): Target {
  return { sizeBytes: fields.whole('length'), sha256: fields.object('hashes').sha256('sha256') };
}

function ownerOf(packageName: string, channel: string): string {
  return `the channel ${channel} of ${packageName}`;
}

/** Canonical JSON, as OLPC has described it: what is signed. */
export function canonical(value: unknown, depth = 0): string {
  if (depth > MOST_DEPTH) throw new FormError('it is too deep');
  if (typeof value === 'string') return `"${value.replace(/["\\]/g, '\\$&')}"`;
  if (value === null || typeof value === 'boolean' || Number.isSafeInteger(value)) return String(value);
  if (typeof value !== 'object') throw new FormError('it has a number that is not whole');
  if (Array.isArray(value)) return `[${value.map((each) => canonical(each, depth + 1)).join()}]`;
  const members = Object.entries(value).sort(([one], [other]) => order(one, other));
  return `{${members.map(([key, each]) => `${canonical(key)}:${canonical(each, depth + 1)}`).join()}}`;
}

/** By code points: halves of pairs are not in their order. */
function order(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  return (one.codePointAt(at) ?? -1) - (other.codePointAt(at) ?? -1);
}
