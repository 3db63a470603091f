import type { Delivery } from './delivery.js';
import type { Ledger } from './ledger.js';
import type { UpdatePlatform } from './platform.js';
/** A channel at an address. */
export interface Channel {
    readonly delivery: Delivery;
    readonly address: string;
    readonly platform: UpdatePlatform;
    readonly ledger: Ledger;
}
