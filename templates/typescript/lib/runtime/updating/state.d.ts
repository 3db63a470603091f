import type { Blob } from './platform.js';
/** A release that was tried on this device. */
export interface StoredRelease {
    /** SHA-256 of the list that it came with. */
    readonly list: string;
    readonly version: string;
    readonly number: number;
    readonly files: readonly Blob[];
}
/** How often something was begun that has not ended. */
export interface Attempts {
    readonly version: string;
    readonly count: number;
}
/** A version that is not used for some time. */
export interface Ban {
    readonly version: string;
    readonly reason: string;
    /** Milliseconds since 1970. */
    readonly until: number;
}
/** In how many starts of the app ONNX Runtime has failed at a version. */
export interface Failing {
    readonly version: string;
    readonly starts: number;
}
/** State that is kept of a model. */
export interface StoredModel {
    /** Release that the next load opens; null for the app's own. */
    readonly active: StoredRelease | null;
    readonly previous: StoredRelease | null;
    readonly trying: Attempts | null;
    readonly opening: Attempts | null;
    readonly banned: readonly Ban[];
    readonly failing: Failing | null;
}
/** State that an updater keeps. */
export interface StoredState {
    /** Made once: which devices take part in a rollout. */
    readonly device: string;
    /** The largest time at which metadata was published, in milliseconds since 1970: it is not earlier now. */
    readonly latest: number;
    /** Milliseconds since 1970. */
    readonly notBefore: number;
    /** One after the other. */
    readonly failures: number;
    readonly isFrozen: boolean;
    /** Versions by the models' names. */
    readonly pins: ReadonlyMap<string, string>;
    readonly models: ReadonlyMap<string, StoredModel>;
}
export declare function emptyState(device: string): StoredState;
export declare function storedModel(state: StoredState, name: string): StoredModel;
/** The state with another one of a model. */
export declare function withModel(state: StoredState, name: string, change: Partial<StoredModel>): StoredState;
/** A model without one of its releases. */
export declare function without({ active, previous }: StoredModel, version: string): Partial<StoredModel>;
/** The time, in milliseconds since 1970: a clock that is behind what was published is wrong. */
export declare function timeOf({ latest }: StoredState): number;
/** Files of the releases that may be opened. */
export declare function filesInUse(state: StoredState): readonly Blob[];
/** Lists of the releases that may be opened. */
export declare function listsInUse(state: StoredState): readonly string[];
export declare function writeState(state: StoredState): string;
/** @throws FormError, or SyntaxError for what is no JSON */
export declare function readState(text: string): StoredState;
