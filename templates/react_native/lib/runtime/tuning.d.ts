import { type Platform } from './backend.js';
import type { ModelDescriptor, Provider, Settings } from './descriptor.js';
import type { ModelDefinition } from './loading.js';
/** How a model runs the fastest on a chip. */
export interface Tuned {
    /** Empty where the package's own order holds. */
    readonly providers: readonly Provider[];
    /** 0 for the package's own choice. */
    readonly threads: number;
    readonly providerOptions: Readonly<Partial<Record<Provider, Settings>>>;
}
/** By the chip as Android 12 and later name it; on iOS, where chips have no names, by the device's identifier. */
export type Chips = Readonly<Record<string, Tuned>>;
/**
 * Whether models that are loaded from now on have the settings that were measured for this device's chip, where the app
 * sets none; true until it is called.
 */
export declare function setTuned(isWanted: boolean): void;
/** The definition of a model that follows what was measured, unless the app sets its own. */
export declare function tuned<Definition extends ModelDefinition<unknown>>(definition: Definition, measured: Readonly<Partial<Record<Platform, Chips>>>): Definition;
/**
 * The same for a model with `variants`: paths of files that only some chips open, in the place of all others. An app that
 * sets providers gets the package's own variant, as the other was measured with those of its chip.
 */
export declare function varied<Definition extends ModelDefinition<unknown>>(define: (model: ModelDescriptor) => Definition, model: ModelDescriptor, variants: readonly string[], measured: Readonly<Partial<Record<Platform, Chips>>>): Definition;
