import type { Delivery } from './delivery.js';
import type { Ledger } from './ledger.js';
import type { UpdatePlatform } from './platform.js';
import { type Verified } from './verifying.js';
/** A channel at an address. */
export interface Channel {
    readonly delivery: Delivery;
    readonly address: string;
    readonly platform: UpdatePlatform;
    readonly ledger: Ledger;
}
/**
 * The channel's newest document: nothing is downloaded that an older one names.
 *
 * @throws ModelError `network`, `corrupted` and so on; ModelUntrustedError for a document that is not believed
 */
export declare function askFor(channel: Channel, signal: AbortSignal | undefined): Promise<Verified>;
/** `latest` is the largest time that a document has shown: a clock that is behind it is wrong. */
export declare function isExpired({ document }: Verified, latest: number): boolean;
/** A document that is kept here, verified anew; null for one that is missing or damaged. */
export declare function keptDocument({ delivery, platform }: Channel, sha256: string): Promise<Verified | null>;
/** The SHA-256 of a document by the name of its text; empty for other texts. */
export declare function documentOf(name: string): string;
/** Remembers a failure: the next attempt is later. */
export declare function countFailure(ledger: Ledger): Promise<void>;
export declare function forgetFailures(ledger: Ledger): Promise<void>;
