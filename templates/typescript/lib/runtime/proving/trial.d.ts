import type { Attempt } from '../attempt.js';
import type { ModelFile, Provider } from '../descriptor.js';
import { type OpenModel, type Outcome } from '../opening.js';
import type { ProviderProof } from '../options.js';
import type { Key, ProofRecord } from './record.js';
export declare const ENDED = "ended the process when it was tried";
/** A verdict, and what was opened by a provider that is proved. */
export interface Examined {
    readonly proof: ProviderProof;
    readonly open: OpenModel | null;
}
/** A provider that is left out. */
export declare function refused(provider: Provider, reason: string): Examined;
/** The trials of one load, which have a limit together. */
export declare class Trials {
    private readonly attempt;
    private readonly record;
    private readonly limit;
    private readonly limited;
    private cpu;
    private cpuSeconds;
    constructor(attempt: Attempt, record: ProofRecord, limit: number);
    /** Tries a provider, and writes down what came of it. */
    examine(provider: Provider, file: ModelFile, key: Key): Promise<Examined>;
    /** The model on the CPU, for who gets it: it is not closed by `end`. */
    take(): Promise<Outcome>;
    end(): void;
    private onCpu;
    /** Null where the limit ended before the CPU's time was known. */
    private judge;
    /** Null for what says nothing about the provider. What else goes wrong is thrown: it ends the load. */
    private judgeError;
    private time;
    /** The CPU's least seconds. A run that is not over at the end of the limit takes what it took until then, at least. */
    private timeOfCpu;
    private unexamined;
}
