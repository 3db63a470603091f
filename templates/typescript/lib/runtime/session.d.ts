import { type Observed } from './observing.js';
import type { Outcome } from './opening.js';
import { type Prepared } from './running.js';
import type { AnyTensor } from './tensor.js';
type Outputs = Readonly<Record<string, AnyTensor>>;
/** Its file, provider and options are in `outcome`. */
export declare class Session {
    readonly outcome: Outcome;
    readonly about: Observed;
    private readonly runs;
    /** @throws ModelError `bad-model` when the opened file lacks a tensor of the model, or has others */
    constructor(outcome: Outcome);
    /** For `run`: outputs without memory of the app get memory that native code may write to. */
    prepare(inputs: object, into: object): Prepared;
    /** For `runSync` and `profile`. */
    prepareSync(inputs: object, into: object): Prepared;
    run(prepared: Prepared, signal: AbortSignal | undefined, isRetry: boolean): Promise<Outputs>;
    runSync(prepared: Prepared): Outputs;
    profile(prepared: Prepared, runs: number): Promise<string>;
    worklet(): object;
    /** Whether what hosted it has failed. */
    get isLost(): boolean;
    /** Runs that are under way end by themselves. */
    close(): void;
    private call;
    private callSync;
}
export {};
