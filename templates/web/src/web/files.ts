// Files on disk, under Node.

import { checkBytes } from '../runtime/downloadMemory.js';
import { ModelError } from '../runtime/errors.js';

/** The part of Node's `fs/promises` that is used. */
interface FileSystem {
  readFile(path: URL): Promise<Uint8Array<ArrayBuffer>>;
}

/** Node's `process`: with it no bundler finds an import of Node's own modules. */
interface NodeProcess {
  getBuiltinModule?(name: 'node:fs/promises'): FileSystem;
}

export function isFile(address: string): boolean {
  return address.startsWith('file:');
}

/**
 * The bytes of a file, checked.
 *
 * @throws ModelError `missing`, `corrupted`, or `unsupported` in a browser
 */
export async function readFile(address: string, sizeBytes: number, sha256: string): Promise<ArrayBuffer> {
  const { process } = globalThis as { readonly process?: NodeProcess };
  const fileSystem = process?.getBuiltinModule?.('node:fs/promises');
  if (fileSystem === undefined) {
    throw new ModelError('unsupported', `${address} is a file on disk: serve the page over http, or use Node 22.3 or later`);
  }
  const content = await fileSystem.readFile(new URL(address)).catch((reason: unknown) => {
    throw new ModelError('missing', `${address} cannot be read: ${String(reason)}`, { cause: reason });
  });
  await checkBytes(content, sizeBytes, sha256, address);
  return content.buffer.slice(content.byteOffset, content.byteOffset + content.byteLength);
}
