import type { Backend, Ran } from './backend.js';
import type { Provider } from './descriptor.js';
import type { Fallback, ModelObserver } from './observer.js';
import type { Info, LoadOptions } from './options.js';
/** A model as events name it. */
export interface Observed {
    readonly info: Info;
    readonly provider: Provider;
    readonly fallbacks: readonly Fallback[];
}
/** Seconds since some moment. */
export declare function now(): number;
/** Tells an observer something, whatever comes of that. */
export declare function tell(telling: () => void): void;
/** Waits for a model, and tells how long it took to load or to fail. */
export declare function observeLoad<M extends Observed>(observer: ModelObserver, model: string, loading: Promise<M>, options: LoadOptions, backend: Backend): Promise<M>;
/** Waits for a run, and tells how it went. */
export declare function observeRun(observer: ModelObserver, model: Observed, running: Promise<Ran>, isRetry: boolean): Promise<Ran>;
/** `observeRun` for a run during which JavaScript waits. */
export declare function observeRunSync(observer: ModelObserver, model: Observed, run: () => Ran): Ran;
