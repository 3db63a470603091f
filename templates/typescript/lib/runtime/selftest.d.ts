import type { Provider } from './descriptor.js';
import type { Outcome } from './opening.js';
/** The result of a self-test: outputs on this device, compared with those of the build machine. */
export interface SelfTest {
    /** Name of the model. */
    readonly model: string;
    /** Name of the file that was opened. */
    readonly file: string;
    /** The provider that ran it. */
    readonly provider: Provider;
    /** Every output of every sample that was compared. */
    readonly outputs: readonly OutputTest[];
    /** Whether there are `outputs`, and all are as expected. */
    readonly passed: boolean;
    /** Whether one of `outputs` is not as expected. A test without outputs had nothing to test: it neither passed nor failed. */
    readonly failed: boolean;
    /** One line per output, for a log. */
    toString(): string;
}
/** One output of one sample in a self-test. */
export interface OutputTest {
    /** Its name in the model. */
    readonly name: string;
    /** Number of the sample, from 0. */
    readonly sample: number;
    /** The largest difference from the expected values; 0 for values that must be equal. */
    readonly maxAbsError: number;
    /** `maxAbsError` as a share of `scale`. */
    readonly maxRelError: number;
    /** The largest expected value of all samples, and 1 at least where the range of the output is known. */
    readonly scale: number;
    /**
     * Values that differ and have no distance: NaN or an infinity where a number should be, or the other way round;
     * integers of more than 8 bits, booleans and strings that differ.
     */
    readonly mismatchCount: number;
    /** `maxAbsError` may be at most `absoluteTolerance` + this * `scale`; 0 for values that must be equal. */
    readonly tolerance: number;
    /** Largest `maxAbsError` that is allowed whatever the `scale`; 0 for values that must be equal. */
    readonly absoluteTolerance: number;
    /** Why the output failed; empty when it passed. */
    readonly failure: string;
    /** Whether the output is as expected. */
    readonly passed: boolean;
}
type Run = (inputs: object) => Promise<object>;
/** Runs a model on the samples that were made for the file it was opened from. */
export declare function testModel(outcome: Outcome, run: Run): Promise<SelfTest>;
/** The result of an output in a line. */
export declare function lineOf({ name, sample, failure, maxAbsError, passed, ...found }: OutputTest): string;
export {};
