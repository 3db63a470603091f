import type { Backend } from '../backend.js';
import { type Observed } from '../observing.js';
import { type Channel } from './asking.js';
import { type Taker } from './choosing.js';
import type { Loadable } from './source.js';
/** Attempts to open a version that ended the app: one more is not made. */
export declare const MOST_ATTEMPTS = 2;
/** Opens models of a channel. */
export declare class Opener {
    private readonly channel;
    private readonly backend;
    private readonly takerOf;
    private readonly onDropped;
    /** SHA-256 of files that models of this process may open again. */
    readonly opened: Set<string>;
    constructor(channel: Channel, backend: Backend, takerOf: (model: string) => Omit<Taker, 'takesPart'>, onDropped: (model: string, reason: string) => void);
    /**
     * The model of the release that is active, or of the one before; null where there is none. One load of a model after the
     * other, so that each counts its own attempts.
     *
     * @throws ModelError `cancelled`, `bad-options`, `runtime-version`
     */
    open<Loaded extends Observed>(loadable: Loadable<Loaded>): Promise<Loaded | null>;
    /** The release to open next, whose attempt is counted; null for the app's own model. */
    private begin;
    private openRelease;
    /** Verified as if it had just come, but for its end and its number. */
    private fittingOf;
    /** Errors of the runtime are the release's own; what is damaged or missing may be downloaded again. */
    private fail;
    private drop;
}
