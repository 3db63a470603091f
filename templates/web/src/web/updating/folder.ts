// Where a browser keeps what an updater downloads: texts in IndexedDB, files in Cache Storage.

import type { Backend } from '../../runtime/backend.js';
import type { PackagedFile } from '../../runtime/descriptor.js';
import { fetchOnce, sha256Of } from '../../runtime/downloadMemory.js';
import { FILE_MS } from '../../runtime/downloadRequest.js';
import { isSecure } from '../../runtime/downloadRequest.js';
import { ModelError, toModelError } from '../../runtime/errors.js';
import type { Source } from '../../runtime/options.js';
import type { Answer, Blob, BlobDownload, BlobWatcher, DeviceState, Patch, UpdatePlatform } from '../../runtime/updating/platform.js';
import { ask } from './asking.js';
import { PageAttempts } from './attempts.js';
import { keptBackend } from './keptBackend.js';
import { applyDelta, type Readable } from './patching.js';
import { BytesInMemory, KeptFile, piecesOf, Pieces, PieceWriter } from './pieces.js';
import { Texts } from './texts.js';

/** The part of the browser's `navigator` that not every browser has. */
interface Connected {
  readonly connection?: { readonly type?: string; readonly saveData?: boolean };
}

/** Number of requests that bring nothing, and the pause before the second; it is twice as long before the third. */
const ATTEMPTS = 3;
const PAUSE_MS = 500;
const NO_BYTES = (): void => undefined;
const UNMETERED: ReadonlySet<string> = new Set(['wifi', 'ethernet']);
const METERED: ReadonlySet<string> = new Set(['cellular', 'bluetooth', 'wimax']);

/** The folder of a package's channel, in the storage of the page's origin. */
export class WebFolder implements UpdatePlatform {
  private readonly name: string;
  private readonly backend: Backend;
  private readonly texts: Texts;
  private readonly pieces: Pieces;
  readonly attempts: PageAttempts;

  constructor(name: string, backend: Backend, caches: CacheStorage) {
    this.name = name;
    this.backend = backend;
    this.texts = new Texts(`mobpack ${name}`);
    this.pieces = new Pieces(name, caches);
    this.attempts = new PageAttempts(name);
  }

  readText(name: string): Promise<string | null> {
    return this.texts.read(name);
  }

  writeText(name: string, text: string): Promise<void> {
    return this.texts.write(name, text);
  }

  removeText(name: string): Promise<void> {
    return this.texts.remove(name);
  }

  textNames(): Promise<readonly string[]> {
    return this.texts.names();
  }

  async hasFile({ sha256, sizeBytes }: Blob): Promise<boolean> {
    const found = await this.pieces.file(sha256);
    if (found?.sizeBytes !== sizeBytes) return false;
    return this.content(sha256, sizeBytes).then(
      () => true,
      () => false,
    );
  }

  fileNames(): Promise<readonly string[]> {
    return this.pieces.names();
  }

  removeFile(sha256: string): Promise<void> {
    return this.pieces.kept.remove(sha256);
  }

  async download({ url, sizeBytes, sha256 }: BlobDownload, { signal, onBytes }: BlobWatcher): Promise<void> {
    const wanted = { url, sizeBytes, sha256, mustBeSecure: isSecure(url) };
    const get = (): Promise<unknown> => fetchOnce(wanted, { signal, onBytes }, this.pieces.kept, this.backend.checksum);
    await again(get, signal);
    await this.refuseLost(sha256, sizeBytes);
  }

  async adopt(file: PackagedFile): Promise<void> {
    const source = await this.packaged(file, undefined);
    const writer = new PieceWriter(this.pieces.kept, file.sha256);
    for await (const piece of piecesOf(source, undefined)) await writer.write(piece);
    await writer.flush();
    if (!(await this.hasFile(file))) throw await this.lost(file.sha256);
  }

  async patch(patch: Patch, signal: AbortSignal | undefined): Promise<void> {
    const { source, packaged } = patch;
    if (packaged === null) {
      await this.patchFrom(await this.pieces.file(source), patch, signal);
      return;
    }
    const { kept } = this.backend;
    try {
      // As earlier loads have kept it: piece by piece.
      const found = kept === null ? null : new KeptFile(kept, source, packaged.sizeBytes);
      await this.patchFrom(found, patch, signal);
    } catch (reason) {
      if (toModelError(reason).code !== 'missing') throw reason;
      await this.patchFrom(await this.packaged(packaged, signal), patch, signal);
    }
  }

  private async patchFrom(from: Readable | null, { source, delta, result }: Patch, signal: AbortSignal | undefined): Promise<void> {
    const difference = await this.pieces.file(delta.sha256);
    if (from === null || difference === null) throw new ModelError('missing', `the browser has not kept ${source} or its delta`);
    const writer = new PieceWriter(this.pieces.kept, result.sha256);
    const wanted = { source, result: result.sha256, resultBytes: result.sizeBytes };
    try {
      await applyDelta(piecesOf(difference, signal), from, wanted, writer);
      await writer.flush();
    } catch (reason) {
      await this.removeFile(result.sha256);
      throw reason;
    }
    await this.refuseLost(result.sha256, result.sizeBytes);
  }

  opening(): { readonly backend: Backend; readonly source: Source } {
    const read = (sha256: string, sizeBytes: number): Promise<ArrayBuffer> => this.content(sha256, sizeBytes);
    return { backend: keptBackend(this.backend, read), source: 'bundled' };
  }

  ask(url: string, limitBytes: number, signal: AbortSignal | undefined): Promise<Answer> {
    return ask(url, limitBytes, signal);
  }

  async freeBytes(): Promise<number> {
    const { quota, usage } = await navigator.storage.estimate();
    return quota === undefined || usage === undefined ? -1 : quota - usage;
  }

  sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
    return sha256Of(bytes);
  }

  randomId(): string {
    return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
  }

  /** Chromium knows the network on phones alone; no browser tells about the charger without being asked for a while. */
  deviceState(): Promise<DeviceState> {
    const { connection } = navigator as Connected;
    const type = connection?.type ?? '';
    const isMetered = connection?.saveData === true || METERED.has(type);
    const isUnmetered = isMetered ? false : UNMETERED.has(type) ? true : null;
    return Promise.resolve({ isUnmetered, isCharging: null });
  }

  alone<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
    return navigator.locks.request(`mobpack ${this.name} ${name}`, work);
  }

  /** Content of a file, checked. */
  private async content(sha256: string, sizeBytes: number): Promise<ArrayBuffer> {
    const bytes = new ArrayBuffer(sizeBytes);
    await new KeptFile(this.pieces.kept, sha256, sizeBytes).read(0, new Uint8Array(bytes));
    const found = (await this.backend.checksum?.(bytes)) ?? { sha256: await sha256Of(new Uint8Array(bytes)), bytes };
    if (found.sha256 === sha256) return found.bytes;
    throw new ModelError('corrupted', `the browser has damaged the file ${sha256}`);
  }

  /** A file of the package: the pieces that earlier loads have kept, or else what its address gives. */
  private async packaged(file: PackagedFile, signal: AbortSignal | undefined): Promise<Readable> {
    const { sha256, sizeBytes, path } = file;
    const place = await this.backend.locate(path, sizeBytes, file.url?.());
    const wanted = { url: place.path, sizeBytes, sha256, mustBeSecure: false };
    const { kept, checksum } = this.backend;
    return new BytesInMemory(await fetchOnce(wanted, { signal, onBytes: NO_BYTES }, kept, checksum));
  }

  /** Files that a browser has no room for are not kept, and nobody is told when they are written. */
  private async refuseLost(sha256: string, sizeBytes: number): Promise<void> {
    if (sizeBytes > 0 && (await this.pieces.file(sha256))?.sizeBytes !== sizeBytes) throw await this.lost(sha256);
  }

  private async lost(sha256: string): Promise<ModelError> {
    await this.removeFile(sha256);
    return new ModelError('no-space', `the browser has not kept the file ${sha256}: this site may have no room left`);
  }
}

/** Where nothing has come, nobody waits for it: a short break of the network need not be a failure. */
async function again(get: () => Promise<unknown>, signal: AbortSignal | undefined): Promise<void> {
  const end = Date.now() + FILE_MS;
  for (let attempt = 1; ; attempt += 1) {
    try {
      await get();
      return;
    } catch (reason) {
      const isBreak = toModelError(reason).code === 'network' && signal?.aborted !== true && Date.now() < end;
      if (!isBreak || attempt === ATTEMPTS) throw reason;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS * 2 ** (attempt - 1)));
    }
  }
}

/**
 * The folder of a channel.
 *
 * @throws ModelError `unsupported` in Node, and in pages that are not secure
 */
export function openFolder(name: string, backend: Backend): UpdatePlatform {
  const { caches, indexedDB, navigator } = globalThis as Partial<typeof globalThis>;
  if (caches === undefined || indexedDB === undefined || navigator?.locks === undefined) {
    throw new ModelError('unsupported', 'models are updated in pages from https: addresses or from localhost only');
  }
  return new WebFolder(name, backend, caches);
}
