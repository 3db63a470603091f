import type { ModelDescriptor } from '../descriptor.js';
import type { Observed } from '../observing.js';
import type { Outcome } from '../opening.js';
import type { LoadOptions } from '../options.js';
/** A model that may be loaded from several places. */
export interface Loadable<Loaded extends Observed> {
    readonly descriptor: ModelDescriptor;
    readonly options: LoadOptions;
    /** Makes a model of what was opened. */
    readonly Loaded: new (outcome: Outcome) => Loaded;
    /** Loads it from any other source, as packages without a channel do. */
    readonly load: (options: LoadOptions) => Promise<Loaded>;
}
/** Opens what was downloaded, or else the app's own model. */
export interface UpdatedModels {
    open<Loaded extends Observed>(loadable: Loadable<Loaded>): Promise<Loaded>;
}
/** Downloaded models: `load({ source: updater.source })`. Where there are none, the app's own model is opened. */
export interface UpdatedSource {
    /** Address of the folder that the updater downloads from. */
    readonly url: string;
}
/** A source of `models`. */
export declare function sourceFor(models: UpdatedModels, url: string): UpdatedSource;
/** Loads a model from the source of an updater, or from any other. */
export declare function loadUpdated<Loaded extends Observed>(Loaded: new (outcome: Outcome) => Loaded, descriptor: ModelDescriptor, options: LoadOptions | undefined, load: (options: LoadOptions | undefined) => Promise<Loaded>): Promise<Loaded>;
