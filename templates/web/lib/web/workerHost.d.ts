import type { Checked, Opened, OpenRequest } from '../runtime/backend.js';
import type { Host, RunAnswer, RunRequest, StartRequest } from './engine.js';
/** Asks a worker, and gives its answers. */
export declare class WorkerHost implements Host {
    private readonly worker;
    private readonly waiting;
    private last;
    private failure;
    constructor(worker: Worker);
    start(request: StartRequest): Promise<void>;
    open(request: OpenRequest, model: ArrayBuffer, weights: readonly ArrayBuffer[]): Promise<Opened>;
    checksum(bytes: ArrayBuffer): Promise<Checked>;
    close(session: number): void;
    run(request: RunRequest): Promise<RunAnswer>;
    end(): void;
    private ask;
    private settle;
    /** Browsers do not say why a script was not loaded. */
    private fail;
}
