import type { Provider } from './descriptor.js';
import type { Outcome } from './opening.js';
/** What a model computes on this device, beside what it computed where the package was built. */
export interface SelfTest {
    /** Name of the model. */
    readonly model: string;
    /** Name of the file that was opened. */
    readonly file: string;
    /** What ran it. */
    readonly provider: Provider;
    /** Every output of every sample that was compared. */
    readonly outputs: readonly OutputTest[];
    /** Whether all `outputs` are what they should be. A test that compared nothing has not passed. */
    readonly passed: boolean;
    /** A line for each output, made for a log. */
    toString(): string;
}
/** One output of one sample in a self-test. */
export interface OutputTest {
    /** Its name in the model. */
    readonly name: string;
    /** Number of the sample, from 0. */
    readonly sample: number;
    /** The largest difference to the expected values; 0 for those that must be equal. */
    readonly maxAbsError: number;
    /** `maxAbsError` as a share of `scale`. */
    readonly maxRelError: number;
    /** The largest expected value of all samples, and 1 at least where the range of the output is known. */
    readonly scale: number;
    /**
     * Values that are unequal and have no distance: NaN or an infinity where a number should be, or the other way round;
     * integers of more than 8 bits, booleans and strings that differ.
     */
    readonly mismatchCount: number;
    /** `maxAbsError` may be at most `absoluteTolerance` + this * `scale`; 0 for values that must be equal. */
    readonly tolerance: number;
    /** What `maxAbsError` may be whatever the `scale`; 0 for values that must be equal. */
    readonly absoluteTolerance: number;
    /** What is wrong, in words; empty when nothing is. */
    readonly failure: string;
    /** Whether the output is what it should be. */
    readonly passed: boolean;
}
type Run = (inputs: object) => Promise<object>;
/** Runs a model on the samples that were made for the file it was opened from. */
export declare function testModel(outcome: Outcome, run: Run): Promise<SelfTest>;
export {};
