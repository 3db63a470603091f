import type { Channel } from './channel.js';
/**
 * Removes files and lists but those of releases that may be opened.
 *
 * @param wanted - SHA-256 of files and lists that an update will go on with
 * @param opened - SHA-256 of files that models of this updater may open again; those of others that are open stay, too
 */
export declare function prune({ platform, ledger }: Channel, wanted: readonly string[], opened: ReadonlySet<string>): Promise<void>;
