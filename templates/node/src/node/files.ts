/// <reference types="node" />
// Files of a package under Node.

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Part } from '../runtime/backend.js';
import { ModelError } from '../runtime/errors.js';

const PIECE = 1 << 18;

/**
 * The path of a file with the address `url`. Electron keeps an app in `app.asar`, which ONNX Runtime cannot read, and the
 * files that `asarUnpack` names beside it.
 */
export function fileOf(url: string): string {
  const path = fileURLToPath(url);
  return 'electron' in process.versions ? path.replace(`${sep}app.asar${sep}`, `${sep}app.asar.unpacked${sep}`) : path;
}

/**
 * Checks a file by its size and SHA-256, and gives its size.
 *
 * @throws ModelError `missing`, `unreadable`, `corrupted`
 */
export async function checkFile({ path, size, sha256 }: Part): Promise<number> {
  const found = await sizeOf(path);
  if (size >= 0 && found !== size) {
    throw new ModelError('corrupted', `${path} has ${String(found)} bytes, the package was built with one of ${String(size)}`);
  }
  if (sha256 === '') return found;
  const digest = await digestOf(path);
  if (digest !== sha256) throw new ModelError('corrupted', `${path} has sha256 ${digest}, expected ${sha256}`);
  return found;
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (reason) {
    throw new ModelError('missing', `${path} cannot be found: ${String(reason)}`, { cause: reason });
  }
}

/** In pieces: the event loop goes on between them. */
async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  try {
    for await (const piece of createReadStream(path, { highWaterMark: PIECE })) hash.update(piece as Buffer);
  } catch (reason) {
    throw new ModelError('unreadable', `${path} cannot be read: ${String(reason)}`, { cause: reason });
  }
  return hash.digest('hex');
}
