// Removes what no release needs any more.

import { namesInUse } from '../sources.js';
import type { Channel } from './channel.js';
import { filesInUse, listsInUse } from './state.js';
import { listOf } from './tufClient.js';

/**
 * Removes files and lists but those of releases that may be opened.
 *
 * @param wanted - SHA-256 of files and lists that an update will go on with
 * @param opened - SHA-256 of files that models of this updater may open again; those of others that are open stay, too
 */
export async function prune({ platform, ledger }: Channel, wanted: readonly string[], opened: ReadonlySet<string>): Promise<void> {
  const state = await ledger.read();
  const files = new Set([...filesInUse(state).map(({ sha256 }) => sha256), ...wanted, ...opened, ...namesInUse()]);
  for (const sha256 of await platform.fileNames()) {
    if (!files.has(sha256)) await platform.removeFile(sha256);
  }
  const lists = new Set([...listsInUse(state), ...wanted]);
  for (const name of await platform.textNames()) {
    const sha256 = listOf(name);
    if (sha256 !== '' && !lists.has(sha256)) await platform.removeText(name);
  }
}
