// Counts what models do, for a dashboard or a log.

import type { Provider } from './descriptor.js';
import type { BanEvent, Fallback, FailureEvent, LoadEvent, ModelObserver, RunEvent } from './observer.js';
import { now } from './observing.js';

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
export class ModelMetrics implements ModelObserver {
  private readonly models = new Map<string, Counts>();

  onLoad(event: LoadEvent): void {
    this.of(event.model).load(event);
  }

  onRun(event: RunEvent): void {
    this.of(event.model).run(event);
  }

  onFailure(event: FailureEvent): void {
    this.of(event.model).failures += 1;
  }

  onBan(event: BanEvent): void {
    this.of(event.model).bans += 1;
  }

  /** Counts of each model that was loaded or failed to load, in the order in which they were first heard of. */
  snapshot(): readonly ModelSnapshot[] {
    return Array.from(this.models, ([model, counts]) => counts.snapshot(model));
  }

  private of(model: string): Counts {
    const known = this.models.get(model) ?? new Counts();
    this.models.set(model, known);
    return known;
  }
}

/** The counts of one model. */
class Counts {
  failures = 0;
  bans = 0;
  private loads = 0;
  private loaded: LoadEvent | null = null;
  /** Provider of the last run that succeeded. */
  private provider: Provider | null = null;
  private errors = 0;
  private retries = 0;
  private runs = 0;
  private firstRun = 0;
  private readonly latency = new Histogram();
  private readonly queue = new Histogram();

  load(event: LoadEvent): void {
    this.loads += 1;
    this.loaded = event;
  }

  run({ provider, queued, duration, error, isRetry }: RunEvent): void {
    if (this.runs === 0) this.firstRun = now() - duration;
    this.runs += 1;
    if (isRetry) this.retries += 1;
    if (error !== null) {
      if (error.code !== 'cancelled') this.errors += 1;
      return;
    }
    this.provider = provider;
    this.latency.add(duration);
    if (!isRetry) this.queue.add(queued); // it has waited for its turn before
  }

  snapshot(model: string): ModelSnapshot {
    const { loaded, loads, failures, runs, errors, retries, bans } = this;
    const counted = {
      model,
      version: loaded?.version ?? '',
      provider: this.provider ?? loaded?.provider ?? null,
      fallbacks: loaded?.fallbacks ?? [],
      loads,
      failures,
      loadDuration: loaded?.duration ?? 0,
      memory: loaded?.memory ?? null,
      runs,
      errors,
      retries,
      bans,
      latency: this.latency.durations(),
      queue: this.queue.durations(),
      throughput: runs === 0 ? 0 : runs / Math.max(now() - this.firstRun, LEAST),
    };
    return { ...counted, attributes: () => attributesOf(counted) };
  }
}

function attributesOf(counted: Omit<ModelSnapshot, 'attributes'>): Readonly<Record<string, number | string>> {
  const { latency, queue, memory, provider, fallbacks } = counted;
  return {
    'mobpack.model.name': counted.model,
    'mobpack.model.version': counted.version,
    ...(provider === null ? {} : { 'mobpack.provider': provider }),
    'mobpack.load.duration': counted.loadDuration,
    'mobpack.run.count': counted.runs,
    'mobpack.run.errors': counted.errors,
    'mobpack.run.retries': counted.retries,
    'mobpack.release.bans': counted.bans,
    'mobpack.run.duration.p50': latency.p50,
    'mobpack.run.duration.p90': latency.p90,
    'mobpack.run.duration.p99': latency.p99,
    'mobpack.queue.duration.p50': queue.p50,
    'mobpack.queue.duration.p90': queue.p90,
    'mobpack.queue.duration.p99': queue.p99,
    'mobpack.run.throughput': counted.throughput,
    'mobpack.fallback.reasons': fallbacks.map((each) => `${each.provider}: ${each.reason}`).join('; '),
    ...(memory === null ? {} : { 'process.memory.usage': memory }),
  };
}

/** The upper bound of the first bucket, in seconds. */
const LEAST = 1e-6;
const FACTOR = 1.1;
/** Up to a quarter of an hour; longer times are in the last bucket, whose percentile is the longest of all. */
const BOUNDS = Float64Array.from({ length: 218 }, (_, index) => LEAST * FACTOR ** index);

/** Counts durations in buckets, each 10 % longer than the one before. */
export class Histogram {
  private readonly counts = new Uint32Array(BOUNDS.length + 1);
  private count = 0;
  private sum = 0;
  private min = Infinity;
  private max = 0;

  add(seconds: number): void {
    const bucket = bucketOf(seconds);
    this.counts[bucket] = (this.counts[bucket] ?? 0) + 1;
    this.count += 1;
    this.sum += seconds;
    this.min = Math.min(this.min, seconds);
    this.max = Math.max(this.max, seconds);
  }

  durations(): Durations {
    const { count, max } = this;
    if (count === 0) return { count, mean: 0, min: 0, max: 0, p50: 0, p90: 0, p99: 0 };
    const [p50, p90, p99] = [this.percentile(0.5), this.percentile(0.9), this.percentile(0.99)];
    return { count, mean: this.sum / count, min: this.min, max, p50, p90, p99 };
  }

  /** The bound of the bucket with the duration that at least `share` of all are not longer than. */
  private percentile(share: number): number {
    const rank = Math.ceil(share * this.count);
    let below = 0;
    const bucket = this.counts.findIndex((each) => (below += each) >= rank);
    return Math.min(BOUNDS[bucket] ?? this.max, this.max);
  }
}

/** The first bucket whose bound is not less. */
function bucketOf(seconds: number): number {
  let [low, high] = [0, BOUNDS.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((BOUNDS[middle] ?? Infinity) < seconds) low = middle + 1;
    else high = middle;
  }
  return low;
}
