import type { ModelDescriptor } from '../descriptor.js';
import { type StoredState } from './state.js';
import type { UpdateState, UpdateStates } from './states.js';
/** States of all models of a package. */
export declare class Telling {
    /** The latest ones. */
    states: UpdateStates;
    private readonly version;
    private readonly listeners;
    /** `version` is that of the package. */
    constructor(models: readonly ModelDescriptor[], version: string);
    subscribe(listener: (states: UpdateStates) => void): () => void;
    /** Shows which versions the next loads open. */
    showVersions(state: StoredState): void;
    tellAll(change: Partial<UpdateState>): void;
    tell(name: string, change: Partial<UpdateState>): void;
}
