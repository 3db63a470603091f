import { type ModelDescriptor } from '../descriptor.js';
import { type Delivery } from './delivery.js';
import { type UpdatedSource } from './source.js';
import type { UpdateOptions, UpdateRequest, UpdateStates } from './states.js';
/** The updater of a package, for one channel and all models. Generated code gives it its name, `ModelUpdater`. */
export declare class Updater {
    /** Models that `load` opens: downloaded ones, or else `options.fallback`. */
    readonly source: UpdatedSource;
    private readonly delivery;
    private readonly models;
    private readonly address;
    private readonly options;
    private readonly telling;
    private started;
    private running;
    /**
     * @param address - of the folder that `mobpack channel publish` writes to: an `https:` address with a / at its end
     * @throws ModelError `bad-options`
     */
    constructor(delivery: Delivery, models: readonly ModelDescriptor[], address: string, options?: UpdateOptions);
    /** The latest states, by the models' names. */
    get states(): UpdateStates;
    /** Calls `listener` with all states whenever one has changed, until the function that this returns is called. */
    subscribe(listener: (states: UpdateStates) => void): () => void;
    /**
     * Asks the channel, downloads what is new, and tries it. Models that are open stay as they are; the next load opens the new
     * ones. Whatever fails is a state. Calls at the same time are one.
     *
     * @throws ModelError `cancelled`
     */
    update(request?: UpdateRequest): Promise<UpdateStates>;
    /** Stops updates, on this device, until `unfreeze`. What was downloaded is opened as before. */
    freeze(): Promise<void>;
    unfreeze(): Promise<void>;
    /**
     * Makes the next updates take that version of a model, and no other.
     *
     * @throws ModelError `bad-options` for a model that there is not
     */
    pin(model: string, version: string): Promise<void>;
    /** @throws ModelError `bad-options` for a model that there is not */
    unpin(model: string): Promise<void>;
    /** Removes all downloads: the next load opens the app's own models. What was seen and what is banned is remembered. */
    remove(): Promise<void>;
    private updateOnce;
    private updateAll;
    private updateOne;
    private open;
    /** Null where the app's own model is opened: nothing of the updater keeps it from that. */
    private openDownloaded;
    private start;
    private takerOf;
    private descriptorOf;
    private change;
}
