import type { UpdateOptions } from './runtime/updating/states.js';
import { Updater } from './runtime/updating/updater.js';
export type { DeviceState } from './runtime/updating/platform.js';
export type { UpdatedSource } from './runtime/updating/source.js';
export type { UpdateOptions, UpdatePhase, UpdateRequest, UpdateState, UpdateStates } from './runtime/updating/states.js';
/**
 * Keeps the models of this package up to date from its channel: `load({ source: updater.source })` opens what was downloaded
 * and tried, and the app's own model where there is nothing newer.
 */
export declare class ModelUpdater extends Updater {
    /**
     * @param address - of the folder that `mobpack channel publish` writes to: an `https:` address with a / at its end
     * @throws ModelError `bad-options`
     */
    constructor(address: string, options?: UpdateOptions);
}
