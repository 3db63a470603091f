import type { Provider } from './descriptor.js';
import type { BanEvent, Fallback, FailureEvent, LoadEvent, ModelObserver, RunEvent } from './observer.js';
/** How long something took, in seconds; all 0 before the first time. Percentiles are at most 10 % too high. */
export interface Durations {
    readonly count: number;
    readonly mean: number;
    readonly min: number;
    readonly max: number;
    readonly p50: number;
    readonly p90: number;
    readonly p99: number;
}
/** Counts of one model until now. */
export interface ModelSnapshot {
    readonly model: string;
    /** Version of the package that contains it; empty before the first load. */
    readonly version: string;
    /** Provider of the last run that succeeded, or of the last load before any; null before that. */
    readonly provider: Provider | null;
    /** Providers that did not start at the last load. */
    readonly fallbacks: readonly Fallback[];
    readonly loads: number;
    /** Loads that failed. */
    readonly failures: number;
    /** Duration of the last load, in seconds. */
    readonly loadDuration: number;
    /** Resident bytes of the process after the last load; null where the platform does not tell. */
    readonly memory: number | null;
    /** Number of runs, those that failed or were cancelled included. */
    readonly runs: number;
    /** Runs that failed: not those that were cancelled. */
    readonly errors: number;
    readonly retries: number;
    /** Releases of the model that were banned. */
    readonly bans: number;
    /** How long runs took that succeeded. */
    readonly latency: Durations;
    /** How long these waited for their turn, unless they repeated another. */
    readonly queue: Durations;
    /** Runs per second since the first one began. */
    readonly throughput: number;
    /** The counts under names as OpenTelemetry has them, in seconds and bytes. */
    attributes(): Readonly<Record<string, number | string>>;
}
/**
 * An observer that counts. One may observe any number of models; those of the same name are counted together.
 *
 * ```ts
 * const metrics = new ModelMetrics();
 * const model = await Model.load({ observer: metrics });
 * for (const each of metrics.snapshot()) send(each.attributes());
 * ```
 */
export declare class ModelMetrics implements ModelObserver {
    private readonly models;
    onLoad(event: LoadEvent): void;
    onRun(event: RunEvent): void;
    onFailure(event: FailureEvent): void;
    onBan(event: BanEvent): void;
    /** Counts of each model that was loaded or failed to load, in the order in which they were first heard of. */
    snapshot(): readonly ModelSnapshot[];
    private of;
}
/** Counts durations in buckets, each 10 % longer than the one before. */
export declare class Histogram {
    private readonly counts;
    private count;
    private sum;
    private min;
    private max;
    add(seconds: number): void;
    durations(): Durations;
    /** The bound of the bucket with the duration that at least `share` of all are not longer than. */
    private percentile;
}
