// Bytes of files where there are no folders: by address, by a function of the app, or in memory.

import type { Part, Place } from './backend.js';
import { bytesInMemory, checkBytes, fetchToMemory } from './downloadMemory.js';
import { ModelError } from './errors.js';

/** Where the files of a package are: one of both is needed for models that are `'bundled'`. */
export interface OnnxRuntimeOptions {
  /** Address of a folder with the files of this package's `models`, for browsers: `/models/`. */
  readonly models?: string;
  /**
   * Reads a file, for Node. It gets the name of a file of this package, or the path that the app gave.
   *
   * ```ts
   * setOnnxRuntime(ort, { read: (file) => readFile(resolve(folder, file)) });
   * ```
   */
  readonly read?: (file: string) => Promise<Uint8Array>;
}

/** Says where a file of the package lies: an address, or what `read` gets. */
export function locateFile({ models, read }: OnnxRuntimeOptions, path: string): Place {
  if (models !== undefined) {
    const folder = models.endsWith('/') ? models : `${models}/`;
    return { path: absolute(folder + encodeURIComponent(path)), offset: 0 };
  }
  if (read !== undefined) return { path, offset: 0 };
  throw new ModelError(
    'missing',
    `the address of ${path} is not set: copy the package's models to a folder of the page, and pass its address as ` +
      'setOnnxRuntime(ort, { models })',
  );
}

function absolute(address: string): string {
  const { location } = globalThis as { readonly location?: { readonly href: string } };
  return location === undefined ? address : new URL(address, location.href).href;
}

/** The bytes of a part, checked. */
export async function bytesOf(part: Part, options: OnnxRuntimeOptions): Promise<Uint8Array<ArrayBuffer>> {
  const kept = bytesInMemory(part);
  const all = kept === undefined ? await read(part.path, options) : new Uint8Array(kept);
  return checkedPart(part, all);
}

/** The bytes of `all` that `part` is, checked. */
export async function checkedPart(part: Part, all: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const end = part.size < 0 ? all.length : part.offset + part.size;
  const bytes = all.subarray(part.offset, end);
  await checkBytes(bytes, part.size, part.sha256, part.path || 'buffer');
  return bytes;
}

/** Every byte of a file. */
export async function read(path: string, options: OnnxRuntimeOptions): Promise<Uint8Array<ArrayBuffer>> {
  if (options.read === undefined) {
    const wanted = { url: absolute(path), sizeBytes: -1, sha256: '', mustBeSecure: false };
    return new Uint8Array(await fetchToMemory(wanted, { signal: undefined, onBytes: () => undefined }));
  }
  try {
    return (await options.read(path)) as Uint8Array<ArrayBuffer>;
  } catch (reason) {
    throw new ModelError('missing', `${path} cannot be read: ${String(reason)}`, { cause: reason });
  }
}
