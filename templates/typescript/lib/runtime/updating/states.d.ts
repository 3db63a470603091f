import type { Provider } from '../descriptor.js';
import type { ModelObserver } from '../observer.js';
import type { Source } from '../options.js';
import type { DeviceState } from './platform.js';
/**
 * Present or last action of an updater on a model:
 *
 * - `unchecked`: nothing was asked yet.
 * - `checking`, `downloading`, `patching`, `trying`: an update is under way.
 * - `up-to-date`: the channel has nothing newer for this device.
 * - `ready`: a new version was tried; the next load opens it.
 * - `waiting`: for Wi-Fi, a charger, free space, the time of the next attempt, or the next start of the app; `reason` says
 *   which.
 * - `failed`: `reason` says why. What was opened before is opened again.
 * - `expired`: the channel's metadata is too old to be followed: nobody has renewed it.
 * - `frozen`: by `freeze`.
 */
export type UpdatePhase = 'unchecked' | 'up-to-date' | 'checking' | 'waiting' | 'downloading' | 'patching' | 'trying' | 'ready' | 'failed' | 'expired' | 'frozen';
/** The state of a model. */
export interface UpdateState {
    readonly phase: UpdatePhase;
    /** Version that the next load opens: the package's own where nothing newer was downloaded. */
    readonly version: string;
    /** Bytes of the files that are downloaded now, or were downloaded last. */
    readonly loadedBytes: number;
    readonly totalBytes: number;
    /** Words for people; empty where there is nothing to say. */
    readonly reason: string;
}
/** States by the models' names in the package's configuration. */
export type UpdateStates = Readonly<Record<string, UpdateState>>;
/** Options of an updater. Omitted ones have these defaults. */
export interface UpdateOptions {
    /** Model that is opened where nothing was downloaded; `'bundled'` by default. */
    readonly fallback?: Source;
    /** Whose files are downloaded; by default those that the package was built for. The CPU's always are. */
    readonly providers?: readonly Provider[];
    /** Bytes that all downloads may take together, those included that are kept to go back to. No limit by default. */
    readonly limitBytes?: number;
    /**
     * Says whether the network is unmetered and whether the device is charging, where the channel asks for that. What it does
     * not say is what the device says itself; what nobody knows is not so.
     */
    readonly conditions?: () => Partial<DeviceState> | Promise<Partial<DeviceState>>;
    /** Is told of releases that are banned. */
    readonly observer?: ModelObserver;
}
/** Options of an update. */
export interface UpdateRequest {
    /** Whether it begins at once, however shortly after a failure; false by default. */
    readonly force?: boolean;
    /** Ends it; what was downloaded is kept for the next time. */
    readonly signal?: AbortSignal;
}
