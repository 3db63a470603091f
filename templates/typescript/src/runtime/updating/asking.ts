// Asks for the document of a channel, and remembers what was seen.

import { ModelError, toModelError } from '../errors.js';
import { ModelUntrustedError } from '../trust.js';
import type { Delivery } from './delivery.js';
import type { Ledger } from './ledger.js';
import type { Answer, UpdatePlatform } from './platform.js';
import type { Seen } from './state.js';
import { textOf, verify, type Verified } from './verifying.js';
import { pauseMs } from './waiting.js';

/** A channel at an address. */
export interface Channel {
  readonly delivery: Delivery;
  readonly address: string;
  readonly platform: UpdatePlatform;
  readonly ledger: Ledger;
}

const MOST_BYTES = 2 << 20;
const OK = 200;
const NOT_MODIFIED = 304;

/**
 * The channel's newest document: nothing is downloaded that an older one names.
 *
 * @throws ModelError `network`, `corrupted` and so on; ModelUntrustedError for a document that is not believed
 */
export async function askFor(channel: Channel, signal: AbortSignal | undefined): Promise<Verified> {
  const { delivery, address, platform, ledger } = channel;
  const { etag, seen } = await ledger.read();
  const kept = etag === '' ? null : await keptDocument(channel, seen.sha256);
  const url = `${address}${delivery.channel}/channel.json`;
  const answer = await platform.ask(url, kept === null ? '' : etag, MOST_BYTES, signal);
  if (answer.status === NOT_MODIFIED && kept !== null) return kept;
  if (answer.status !== OK) throw new ModelError('network', `${url} answers with status ${String(answer.status)}`);
  return accept(channel, answer);
}

/** Refuses documents that are older than one that was seen; the newest is kept. */
async function accept({ delivery, platform, ledger }: Channel, { bytes, etag }: Answer): Promise<Verified> {
  const text = understood(() => textOf(bytes));
  const verified = await verify(text, delivery, (each) => platform.sha256(each));
  const { document, sha256 } = verified;
  refuseOlder({ number: document.number, sha256 }, (await ledger.read()).seen);
  const latest = Math.max((await ledger.read()).seen.latest, document.published);
  if (isExpired(verified, latest)) {
    await ledger.change((state) => ({ ...state, seen: { ...state.seen, latest } }));
    return verified;
  }
  await platform.writeText(documentName(sha256), text);
  await ledger.change((state) => {
    refuseOlder({ number: document.number, sha256 }, state.seen);
    const isKnown = state.seen.sha256 === sha256 && state.etag === etag;
    return isKnown ? state : { ...state, seen: { number: document.number, sha256, latest }, etag };
  });
  return verified;
}

/** `latest` is the largest time that a document has shown: a clock that is behind it is wrong. */
export function isExpired({ document }: Verified, latest: number): boolean {
  return document.expires <= Math.max(Date.now(), latest);
}

function refuseOlder(found: Omit<Seen, 'latest'>, seen: Seen): void {
  if (found.number < seen.number) {
    throw new ModelUntrustedError(
      'rolled-back',
      `the channel was rolled back: its document has number ${String(found.number)}, and ${String(seen.number)} was seen before`,
    );
  }
  if (found.number === seen.number && found.sha256 !== seen.sha256) {
    throw new ModelUntrustedError(
      'rolled-back',
      `the channel was forked: there are two documents with number ${String(found.number)}`,
    );
  }
}

/** A document that is kept here, verified anew; null for one that is missing or damaged. */
export async function keptDocument({ delivery, platform }: Channel, sha256: string): Promise<Verified | null> {
  try {
    const text = await platform.readText(documentName(sha256));
    if (text === null) return null;
    const found = await verify(text, delivery, (each) => platform.sha256(each));
    return found.sha256 === sha256 ? found : null;
  } catch {
    return null;
  }
}

function documentName(sha256: string): string {
  return `documents/${sha256}.json`;
}

/** The SHA-256 of a document by the name of its text; empty for other texts. */
export function documentOf(name: string): string {
  return /^documents\/([0-9a-f]{64})\.json$/.exec(name)?.[1] ?? '';
}

/** Remembers a failure: the next attempt is later. */
export async function countFailure(ledger: Ledger): Promise<void> {
  await ledger.change((state) => {
    const failures = state.failures + 1;
    return { ...state, failures, notBefore: Math.ceil(Date.now() + pauseMs(failures)) };
  });
}

export async function forgetFailures(ledger: Ledger): Promise<void> {
  await ledger.change((state) => (state.failures === 0 && state.notBefore === 0 ? state : { ...state, failures: 0, notBefore: 0 }));
}

function understood(read: () => string): string {
  try {
    return read();
  } catch (reason) {
    throw new ModelUntrustedError('wrong-signature', `the channel's document is damaged: ${toModelError(reason).message}`);
  }
}
