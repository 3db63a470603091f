// Files that the browser keeps between visits, by their SHA-256, in its Cache Storage.

import type { KeptFiles } from '../runtime/backend.js';

/** The part of Cache Storage that is used here. */
type Caches = Pick<CacheStorage, 'open'>;

const PATH = '/mobpack/';

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

  async find(sha256: string): Promise<ArrayBuffer | undefined> {
    return this.tried('read', async (cache) => (await cache.match(PATH + sha256))?.arrayBuffer());
  }

  async add(sha256: string, bytes: ArrayBuffer): Promise<void> {
    await this.tried('written', (cache) => cache.put(PATH + sha256, new Response(bytes)));
  }

  async remove(sha256: string): Promise<void> {
    await this.tried('cleaned', (cache) => cache.delete(PATH + sha256));
  }

  async retain(sha256s: ReadonlySet<string>): Promise<void> {
    const wanted = sha256s.size === 0 ? sha256s : new Set([...sha256s, this.runtime]);
    await this.tried('cleaned', async (cache) => {
      for (const request of await cache.keys()) {
        if (!wanted.has(request.url.slice(request.url.lastIndexOf('/') + 1))) await cache.delete(request);
      }
    });
  }

  /** What fails here costs a download: a model is loaded all the same, and the page is told once. */
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

function inWords(reason: unknown): string {
  const { name } = reason as { readonly name?: string };
  if (name === 'QuotaExceededError') return 'this site has no room left in the browser, so files are fetched at each visit';
  return String(reason);
}

/** What the browser has; null in pages that are not secure, and in Node. */
export function keptFilesOf(packageName: string, runtime: string): KeptFiles | null {
  const { caches } = globalThis as { readonly caches?: Caches };
  return caches === undefined ? null : new CacheOfPackage(packageName, runtime, caches);
}
