import type { Backend } from '../backend.js';
import type { ModelDescriptor } from '../descriptor.js';
import type { Channel } from './channel.js';
import { type Taker } from './choosing.js';
import type { UpdateOptions, UpdatePhase, UpdateState } from './states.js';
import { type TufClient } from './tufClient.js';
/** A model, and who takes its releases. */
export interface Updated {
    readonly channel: Channel;
    readonly backend: Backend;
    readonly model: ModelDescriptor;
    readonly taker: Omit<Taker, 'takesPart'>;
    readonly options: UpdateOptions;
    readonly signal: AbortSignal | undefined;
    readonly tell: (state: Partial<UpdateState>) => void;
}
/** Result of an update. */
export interface Outcome {
    readonly phase: UpdatePhase;
    readonly reason: string;
    /** SHA-256 of the list, and of files that an update which has not ended wants to find; null where nobody knows. */
    readonly wanted: readonly string[] | null;
    /** Whether the next attempt has to be later. */
    readonly isFailure: boolean;
}
/** @throws ModelError `cancelled` */
export declare function updateModel(updated: Updated, client: TufClient): Promise<Outcome>;
