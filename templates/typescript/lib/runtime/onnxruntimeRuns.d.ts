import type { OrtApi, OrtSession } from './onnxruntimeApi.js';
import { type Placed, type Produced } from './onnxruntimeTensors.js';
/** A run: what it reads and where it writes, as in `Engine.run`. */
export interface RunCall {
    readonly buffers: readonly ArrayBuffer[];
    readonly layout: readonly number[];
    readonly texts: ReadonlyArray<readonly string[]>;
    /** Nothing is written after it was aborted: the memory is the app's again. */
    readonly signal: AbortSignal;
    readonly times: Times;
}
/** How long a run waits and takes. No clock is read unless somebody asks. */
export declare class Times {
    queued: number;
    duration: number;
    private readonly isAsked;
    private last;
    /** Now the run is asked for. */
    constructor(isAsked: boolean);
    begin(): void;
    end(): void;
    private lap;
}
/** A session, and the runs that wait for it. */
export declare class Runner {
    private readonly ort;
    private readonly session;
    private readonly ownsInputs;
    private last;
    constructor(ort: OrtApi, session: OrtSession, ownsInputs: boolean);
    /**
     * Every output; those with memory of the app are also written there. Inputs are copied before this returns, unless
     * nobody else has them.
     */
    run(call: RunCall): Promise<readonly Produced[]>;
    /** Frees the session's memory after the runs that were asked for. What fails then is nobody's any more. */
    release(): void;
    private placed;
    private compute;
    private feeds;
}
/** A copy of what lies in the app's memory. */
export declare function copied({ buffer, byteOffset, byteLength, shape }: Placed): Placed;
/** @throws ModelError `cancelled` */
export declare function throwIfCancelled(signal: AbortSignal): void;
/** `ended`, or a rejection as soon as `signal` is aborted: the API cannot end a run that is under way. */
export declare function cancellable<T>(ended: Promise<T>, signal: AbortSignal): Promise<T>;
