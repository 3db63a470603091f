import { type Channel } from './asking.js';
/**
 * Removes files and documents but those of releases that may be opened.
 *
 * @param wanted - SHA-256 of files that an update will go on with
 * @param opened - SHA-256 of files that models of this process may open again
 */
export declare function prune({ platform, ledger }: Channel, wanted: readonly string[], opened: ReadonlySet<string>): Promise<void>;
