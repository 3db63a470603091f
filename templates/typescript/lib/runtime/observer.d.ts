import type { Provider } from './descriptor.js';
import type { ModelError } from './errors.js';
/** A provider that was requested and did not start. */
export interface Fallback {
    readonly provider: Provider;
    /** In most cases ONNX Runtime's message; `took no node of the model` where the CPU would have run all of it. */
    readonly reason: string;
}
/** Where the files of a model came from. */
export type SourceKind = 'bundled' | 'url' | 'folder' | 'path' | 'buffer' | 'descriptor';
/** A model was loaded. Times of all events are in seconds. */
export interface LoadEvent {
    /** Its name in the package's configuration. */
    readonly model: string;
    /** Version of the package that contains it. */
    readonly version: string;
    readonly provider: Provider;
    readonly fallbacks: readonly Fallback[];
    readonly source: SourceKind;
    /** Size of the model's file, including weights in separate files. */
    readonly sizeBytes: number;
    /** From the call of `load` on, downloads included. */
    readonly duration: number;
    /** Bytes of the process that are resident after loading; null where the platform does not tell. */
    readonly memory: number | null;
}
/** A run has ended. Calls that are refused before they are queued, with `bad-input`, `busy` or `disposed`, are no runs. */
export interface RunEvent {
    readonly model: string;
    readonly provider: Provider;
    /** How long it waited for its turn; 0 for one that failed, whose `duration` is all its time. */
    readonly queued: number;
    readonly duration: number;
    /** Null of a run that succeeded. */
    readonly error: ModelError | null;
    /** Whether it repeated a run that failed. */
    readonly isRetry: boolean;
}
/** A model could not be loaded. */
export interface FailureEvent {
    readonly model: string;
    readonly error: ModelError;
    readonly duration: number;
}
/** The memory of a model is given back. */
export interface ReleaseEvent {
    readonly model: string;
    /** `close` for `dispose`. */
    readonly reason: 'close' | 'memory' | 'thermal';
}
/** A release that an updater has downloaded is not used for some time: it computed other numbers, did not start, or ended the app. */
export interface BanEvent {
    readonly model: string;
    /** Version of the release. */
    readonly version: string;
    readonly reason: string;
}
/**
 * Is told what models do: an option of `load`. Its methods are called on JavaScript's thread; what one of them throws is
 * logged with `console.error`, and ends nothing.
 */
export interface ModelObserver {
    onLoad?(event: LoadEvent): void;
    onRun?(event: RunEvent): void;
    onFailure?(event: FailureEvent): void;
    onRelease?(event: ReleaseEvent): void;
    onBan?(event: BanEvent): void;
}
