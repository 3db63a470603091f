// Pieces of files that the browser keeps between visits, by the SHA-256 of the file, in its Cache Storage.

import type { KeptFiles } from '../runtime/backend.js';
import { sha256Of } from '../runtime/downloadMemory.js';

/** The part of Cache Storage that is used here. */
type Caches = Pick<CacheStorage, 'open'>;

const PATH = '/mobpack/';
/** Headers of a piece: its SHA-256, and the ETag that it came with. */
const CHECKSUM = 'x-sha256';
const TAG = 'x-etag';

/** Keeps files of one package. Without room, or where a browser has no Cache Storage, files are fetched at each visit. */
export class CacheOfPackage implements KeptFiles {
  private readonly name: string;
  private readonly caches: Caches;
  /** SHA-256 of ONNX Runtime, which stays as long as any model does. */
  private readonly runtime: string;
  private hasTold = false;

  constructor(packageName: string, runtime: string, caches: Caches) {
    this.name = `mobpack ${packageName}`;
    this.runtime = runtime;
    this.caches = caches;
  }

  async read(sha256: string, offset: number, into: Uint8Array): Promise<string | undefined> {
    return this.tried('read', async (cache) => {
      const found = await cache.match(pathOf(sha256, offset));
      if (found === undefined) return undefined;
      return (await isReadInto(into, found)) ? (found.headers.get(TAG) ?? '') : undefined;
    });
  }

  async write(sha256: string, offset: number, piece: Uint8Array<ArrayBuffer>, tag: string): Promise<void> {
    await this.tried('written', async (cache) => {
      const headers = { [CHECKSUM]: await sha256Of(piece), [TAG]: tag };
      await cache.put(pathOf(sha256, offset), new Response(piece, { headers }));
    });
  }

  async removeDamaged(sha256: string): Promise<boolean> {
    let isDamaged = false;
    await this.removeThose(async (cache, request) => {
      if (fileOf(request) !== sha256) return false;
      const found = await cache.match(request);
      const bytes = new Uint8Array((await found?.arrayBuffer()) ?? new ArrayBuffer(0));
      if ((await sha256Of(bytes)) === found?.headers.get(CHECKSUM)) return false;
      isDamaged = true;
      return true;
    });
    return isDamaged;
  }

  async remove(sha256: string): Promise<void> {
    await this.removeThose((_, request) => fileOf(request) === sha256);
  }

  async retain(sha256s: ReadonlySet<string>): Promise<void> {
    const wanted = sha256s.size === 0 ? sha256s : new Set([...sha256s, this.runtime]);
    await this.removeThose((_, request) => !wanted.has(fileOf(request)));
  }

  private async removeThose(isUnwanted: (cache: Cache, request: Request) => boolean | Promise<boolean>): Promise<void> {
    await this.tried('cleaned', async (cache) => {
      for (const request of await cache.keys()) {
        if (await isUnwanted(cache, request)) await cache.delete(request);
      }
    });
  }

  /** A failure here costs a download: a model is loaded all the same, and the page is told once. */
  private async tried<T>(done: string, use: (cache: Cache) => Promise<T>): Promise<T | undefined> {
    try {
      return await use(await this.caches.open(this.name));
    } catch (reason) {
      if (!this.hasTold) console.warn(`${this.name}: the cache of models cannot be ${done}: ${inWords(reason)}`);
      this.hasTold = true;
      return undefined;
    }
  }
}

/** Reads a response as it comes: whole pieces in memory of their own would have to be collected later. */
async function isReadInto(into: Uint8Array, { body }: Response): Promise<boolean> {
  const reader = body?.getReader();
  let length = 0;
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
    if (done) return length === into.length;
    if (length + value.length > into.length) return false;
    into.set(value, length);
    length += value.length;
  }
}

function pathOf(sha256: string, offset: number): string {
  return `${PATH}${sha256}/${String(offset)}`;
}

/** The SHA-256 of the file that an entry is a piece of; empty for what this package has not written. */
function fileOf({ url }: Request): string {
  return new RegExp(`${PATH}([0-9a-f]{64})/\\d+$`).exec(url)?.[1] ?? '';
}

function inWords(reason: unknown): string {
  const { name } = reason as { readonly name?: string };
  if (name === 'QuotaExceededError') return 'this site has no room left in the browser, so files are fetched at each visit';
  return String(reason);
}

/** The browser's caches; null in pages that are not secure, and in Node. */
export function keptFilesOf(packageName: string, runtime: string): KeptFiles | null {
  const { caches } = globalThis as { readonly caches?: Caches };
  return caches === undefined ? null : new CacheOfPackage(packageName, runtime, caches);
}
