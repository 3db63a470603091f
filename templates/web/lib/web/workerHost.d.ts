import type { Checked, Opened, OpenRequest } from '../runtime/backend.js';
import type { Host, RunAnswer, RunRequest, StartRequest } from './engine.js';
/** Asks a worker, and gives its answers. */
export declare class WorkerHost implements Host {
    private readonly worker;
    private readonly waiting;
    private last;
    private failure;
    private isEnding;
    constructor(worker: Worker);
    get hasFailed(): boolean;
    start(request: StartRequest): Promise<void>;
    probe(provider: string): Promise<void>;
    open(request: OpenRequest, model: ArrayBuffer, weights: readonly ArrayBuffer[]): Promise<Opened>;
    checksum(bytes: ArrayBuffer): Promise<Checked>;
    /** Nothing is left to close in a worker that has failed. */
    close(session: number): void;
    run(request: RunRequest): Promise<RunAnswer>;
    end(): void;
    abandon(): void;
    private endIfIdle;
    private ask;
    private settle;
    /** Browsers do not say why a script was not loaded. */
    private failFor;
    /** For good: whatever it has is lost. */
    private fail;
}
