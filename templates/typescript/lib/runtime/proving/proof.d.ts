import type { Attempt } from '../attempt.js';
import { type Outcome, type Prover } from '../opening.js';
/** How providers are proved. */
export interface ProofOptions {
    /** Seconds after which the proof of all providers of a load ends; 3 by default. */
    readonly limit?: number;
    /**
     * Whether `load` opens at once what is proved so far, or the CPU, while the proof goes on and holds from the next load;
     * false by default.
     */
    readonly inBackground?: boolean;
}
/**
 * The option `proof` of `load`: the first provider that is proved on this device runs the model, and the CPU where none
 * is. A provider is proved that starts, takes as many nodes as the build saw it take, computes the package's samples as
 * `selfTest` asks for, and is no slower than the CPU. Verdicts are kept on the device, and hold until the app, the system,
 * ONNX Runtime or the options of the model change. Nothing is sent.
 *
 * ```ts
 * const model = await Model.load({ proof: new Proof() });
 * console.log(model.provider, model.info.proofs);
 * ```
 */
export declare class Proof implements Prover {
    readonly limit: number;
    readonly inBackground: boolean;
    /** @throws ModelError `bad-options` */
    constructor({ limit, inBackground }?: ProofOptions);
    /** Opens a model: called by `load`. */
    open(attempt: Attempt): Promise<Outcome>;
}
