// Files in memory, for browsers: there is no folder that they could be kept in.

import type { Checked, Checksum, KeptFiles, Part } from './backend.js';
import { Deadline, FILE_MS, Interruption } from './downloadRequest.js';
import { ModelError } from './errors.js';
import { MemoryFile, type MemoryWatcher } from './memoryFile.js';
import { requestBytes, type MemoryDownload } from './memoryRequest.js';

/** Longest wait for an answer that brings nothing. */
const STALL_MS = 30_000;

/** By the part that says where they are: they are gone when nobody has that any more. */
const bytesByPart = new WeakMap<Part, ArrayBuffer>();

/** Makes `bytes` those of `part`. */
export function keepInMemory(part: Part, bytes: ArrayBuffer): void {
  bytesByPart.set(part, bytes);
}

/** The bytes of a part that is in memory. */
export function bytesInMemory(part: Part): ArrayBuffer | undefined {
  return bytesByPart.get(part);
}

/**
 * A file of the package: what the browser kept of earlier visits, and the rest fetched, and then kept. All of it is checked;
 * what is damaged is fetched again.
 *
 * @param checksum - how the whole is checked, such as on another thread
 * @throws ModelError `network`, `missing`, `corrupted` or `cancelled`
 */
export async function fetchOnce(
  wanted: MemoryDownload,
  watcher: MemoryWatcher,
  kept: KeptFiles | null,
  checksum: Checksum = checksumHere,
): Promise<ArrayBuffer> {
  const { url, sizeBytes, sha256 } = wanted;
  if (sizeBytes < 0) return fetchUnsized(wanted, watcher);
  const file = new MemoryFile(wanted, watcher, sha256 === '' ? null : kept);
  await file.fill();
  if (sha256 === '') return file.bytes.buffer;
  for (;;) {
    const found = await checksum(file.bytes.buffer);
    file.bytes = new Uint8Array(found.bytes);
    if (found.sha256 === sha256) return found.bytes;
    await file.mend(wrongContent(url, found.sha256, sha256));
  }
}

/**
 * Fetches a file and checks it; nothing of it is kept.
 *
 * @throws ModelError as `fetchOnce`
 */
export function fetchToMemory(wanted: MemoryDownload, watcher: MemoryWatcher): Promise<ArrayBuffer> {
  return fetchOnce(wanted, watcher, null);
}

async function fetchUnsized(wanted: MemoryDownload, { signal }: MemoryWatcher): Promise<ArrayBuffer> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  const deadline = new Deadline(FILE_MS, 0);
  let size = 0;
  const taker = {
    signal,
    stallMs: STALL_MS,
    deadline,
    begin: (): void => undefined,
    take: (bytes: Uint8Array): void => {
      chunks.push(Uint8Array.from(bytes));
      size += bytes.length;
      deadline.reached(size);
    },
  };
  try {
    await requestBytes(wanted, { start: 0, end: wanted.sizeBytes, tag: '', isFresh: false }, taker);
  } catch (reason) {
    if (reason instanceof Interruption) throw new ModelError('network', reason.message, { cause: reason });
    throw reason;
  }
  const bytes = joined(chunks);
  await checkBytes(bytes, wanted.sizeBytes, wanted.sha256, wanted.url);
  return bytes.buffer;
}

function joined(chunks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(chunks.reduce((total, { length }) => total + length, 0));
  let length = 0;
  for (const chunk of chunks) {
    all.set(chunk, length);
    length += chunk.length;
  }
  return all;
}

/** The SHA-256 of bytes, on the thread that asks for it: browsers copy them there. */
export async function checksumHere(bytes: ArrayBuffer): Promise<Checked> {
  return { sha256: await sha256Of(new Uint8Array(bytes)), bytes };
}

/**
 * Checks bytes; a size of -1 and an empty `sha256` are not.
 *
 * @throws ModelError `corrupted`; `unsupported` where the browser has no SHA-256
 */
export async function checkBytes(
  bytes: Uint8Array<ArrayBuffer>,
  sizeBytes: number,
  sha256: string,
  name: string,
): Promise<void> {
  const { byteLength } = bytes;
  if (sizeBytes >= 0 && byteLength !== sizeBytes) {
    const expected = `the package was built with one of ${String(sizeBytes)}`;
    throw new ModelError('corrupted', `${name} has ${String(byteLength)} bytes, ${expected}`);
  }
  if (sha256 === '') return;
  const found = await sha256Of(bytes);
  if (found !== sha256) throw wrongContent(name, found, sha256);
}

function wrongContent(name: string, found: string, expected: string): ModelError {
  return new ModelError('corrupted', `${name} has sha256 ${found}, expected ${expected}`);
}

/**
 * The SHA-256 of bytes, in hexadecimal.
 *
 * @throws ModelError `unsupported` where the browser has none
 */
export async function sha256Of(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const { crypto } = globalThis as { readonly crypto?: Partial<Crypto> };
  if (crypto?.subtle === undefined) {
    throw new ModelError('unsupported', 'files can be checked in pages from https: addresses or from localhost only');
  }
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
