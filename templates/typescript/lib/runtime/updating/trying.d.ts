import type { Backend } from '../backend.js';
import type { ModelDescriptor, Provider } from '../descriptor.js';
import type { Source } from '../options.js';
import type { Fitting } from './choosing.js';
import type { UpdatePlatform } from './platform.js';
/** Means of a trial of a release. */
export interface Trial {
    readonly model: ModelDescriptor;
    /** Runs the app's own models. */
    readonly backend: Backend;
    readonly platform: UpdatePlatform;
    readonly providers: readonly Provider[];
    /** Where the app's own samples are. */
    readonly fallback: Source;
}
/**
 * Opens a release and runs it: on its samples, whose outputs are compared, or else on the package's, or on zeros.
 *
 * @throws ModelError: `bad-model` for other outputs, and what opening and running a model throws
 */
export declare function tryRelease(trial: Trial, fitting: Fitting): Promise<void>;
