// Tells an observer what models do.

import type { Backend, Ran } from './backend.js';
import type { Provider } from './descriptor.js';
import { toModelError, type ModelError } from './errors.js';
import type { Fallback, LoadEvent, ModelObserver, SourceKind } from './observer.js';
import type { Info, LoadOptions } from './options.js';

/** A model as events name it. */
export interface Observed {
  readonly info: Info;
  readonly provider: Provider;
  readonly fallbacks: readonly Fallback[];
}

/** Seconds since some moment. */
export function now(): number {
  const { performance: clock = Date } = globalThis as { readonly performance?: { now(): number } };
  return clock.now() / 1000;
}

/** Tells an observer something, whatever comes of that. */
export function tell(telling: () => void): void {
  try {
    telling();
  } catch (error) {
    console.error(error);
  }
}

/** Waits for a model, and tells how long it took to load or to fail. */
export async function observeLoad<M extends Observed>(
  observer: ModelObserver,
  model: string,
  loading: Promise<M>,
  options: LoadOptions,
  backend: Backend,
): Promise<M> {
  const started = now();
  try {
    const loaded = await loading;
    const event = loadEvent(loaded, options, now() - started, backend.residentBytes());
    tell(() => observer.onLoad?.(event));
    return loaded;
  } catch (thrown) {
    const [error, duration] = [toModelError(thrown), now() - started];
    tell(() => observer.onFailure?.({ model, error, duration }));
    throw error;
  }
}

function loadEvent(
  { info, provider, fallbacks }: Observed,
  { source = 'bundled' }: LoadOptions,
  duration: number,
  residentBytes: number,
): LoadEvent {
  const { name: model, version, sizeBytes } = info;
  const memory = residentBytes < 0 ? null : residentBytes;
  return { model, version, provider, fallbacks, source: kindOf(source), sizeBytes, duration, memory };
}

function kindOf(source: NonNullable<LoadOptions['source']>): SourceKind {
  if (source === 'bundled') return source;
  const kinds: readonly SourceKind[] = ['url', 'folder', 'path', 'buffer', 'descriptor'];
  return kinds.find((kind) => kind in source) ?? 'bundled';
}

/** Waits for a run, and tells how it went. */
export async function observeRun(
  observer: ModelObserver,
  model: Observed,
  running: Promise<Ran>,
  isRetry: boolean,
): Promise<Ran> {
  const started = now();
  try {
    const ran = await running;
    tellOfRun(observer, model, ran, null, isRetry);
    return ran;
  } catch (thrown) {
    const error = toModelError(thrown);
    tellOfRun(observer, model, { queued: 0, duration: now() - started }, error, isRetry);
    throw error;
  }
}

/** `observeRun` for a run during which JavaScript waits. */
export function observeRunSync(observer: ModelObserver, model: Observed, run: () => Ran): Ran {
  const started = now();
  try {
    const ran = run();
    tellOfRun(observer, model, { queued: 0, duration: now() - started }, null, false);
    return ran;
  } catch (thrown) {
    const error = toModelError(thrown);
    tellOfRun(observer, model, { queued: 0, duration: now() - started }, error, false);
    throw error;
  }
}

type Times = Pick<Ran, 'queued' | 'duration'>;

function tellOfRun(
  observer: ModelObserver,
  { info, provider }: Observed,
  { queued, duration }: Times,
  error: ModelError | null,
  isRetry: boolean,
): void {
  tell(() => observer.onRun?.({ model: info.name, provider, queued, duration, error, isRetry }));
}
