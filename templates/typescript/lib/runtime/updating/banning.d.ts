import type { ModelError } from '../errors.js';
import type { ModelObserver } from '../observer.js';
import type { Channel } from './channel.js';
import { type StoredModel, type StoredState } from './state.js';
/**
 * The part at fault where a release cannot be opened, or computes something else:
 *
 * - `release`: it is the same everywhere.
 * - `runtime`: ONNX Runtime has failed, for a reason that may pass.
 * - `device`: its memory, storage or network, or what hosts models.
 */
export type Fault = 'release' | 'runtime' | 'device';
/** How long a version is banned, in milliseconds. */
export declare const BAN_MS: number;
/** Attempts to open a version that ended the app: one more is not made. */
export declare const MOST_ATTEMPTS = 2;
/** For files that are whole: the faults of others are those of the device's storage. */
export declare function faultOf({ code }: ModelError): Fault;
/** Whether ONNX Runtime has failed at a version since the app was started: it is not tried again before the next start. */
export declare function hasFailedHere(state: StoredState, model: string, version: string): boolean;
/** Notes that ONNX Runtime has failed at a version. Whether it has in so many starts of the app that the version is banned. */
export declare function failsTooOften({ ledger }: Channel, model: string, version: string): Promise<boolean>;
/** Bans a version from now on, and changes what else is known of the model. Gives words about it. */
export declare function ban({ ledger }: Channel, { model, version, reason }: {
    readonly model: string;
    readonly version: string;
    readonly reason: string;
}, observers: readonly (ModelObserver | undefined)[], change: (model: StoredModel) => Partial<StoredModel>): Promise<string>;
/** Versions that are banned now. */
export declare function bannedIn(state: StoredState, model: string): ReadonlySet<string>;
/** State of a model whose version has started after all. */
export declare function withoutFailing({ failing }: StoredModel, version: string): Pick<StoredModel, 'failing'>;
