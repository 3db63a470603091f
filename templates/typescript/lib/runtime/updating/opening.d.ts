import type { Backend } from '../backend.js';
import type { ModelObserver } from '../observer.js';
import { type Observed } from '../observing.js';
import type { Channel } from './channel.js';
import { type Taker } from './choosing.js';
import type { Loadable } from './source.js';
/** Where models are opened, and who is told. */
export interface Opening {
    readonly channel: Channel;
    readonly backend: Backend;
    readonly observer: ModelObserver | undefined;
    readonly takerOf: (model: string) => Omit<Taker, 'takesPart'>;
    /** A release was passed over. */
    readonly onPassed: (model: string, reason: string) => void;
}
/** Opens models of a channel. */
export declare class Opener {
    private readonly channel;
    private readonly given;
    /** SHA-256 of files that models may open again. */
    readonly opened: Set<string>;
    constructor(given: Opening);
    /**
     * The model of the release that is active, or of the one before; null where there is none. One load of a model after the
     * other, so that each counts its own attempts.
     *
     * @throws ModelError `cancelled`, `bad-options`, `runtime-version`
     */
    open<Loaded extends Observed>(loadable: Loadable<Loaded>): Promise<Loaded | null>;
    /** The release to open next but those that were `passed`, whose attempt is counted; null for the app's own model. */
    private begin;
    private openRelease;
    private fittingOf;
    /** A release that is not at fault is opened another time; one that is damaged or missing, when it was downloaded again. */
    private fail;
    /** Whether storage has kept all bytes: a load may look at some of them alone. */
    private areWhole;
    private ban;
    private drop;
}
