import type { UpdatePlatform } from './platform.js';
import { type StoredModel, type StoredState } from './state.js';
/** Reads and changes the state, which other processes may do, too. */
export declare class Ledger {
    private readonly platform;
    constructor(platform: UpdatePlatform);
    read(): Promise<StoredState>;
    /** Writes what `change` makes of the state, and gives it. */
    change(change: (state: StoredState) => StoredState): Promise<StoredState>;
    changeModel(name: string, change: (model: StoredModel) => Partial<StoredModel>): Promise<StoredState>;
    /** Remembers a failure: the next attempt is later. */
    countFailure(): Promise<void>;
    forgetFailures(): Promise<void>;
    /** A damaged one is moved aside: everything begins anew, but for the metadata that was seen. */
    private current;
}
