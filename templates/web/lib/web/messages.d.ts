import type { Checked, Opened, OpenRequest } from '../runtime/backend.js';
import { ModelError, type ModelErrorCode } from '../runtime/errors.js';
import type { RunAnswer, RunRequest, StartRequest } from './engine.js';
/** Calls of a worker's host, by its methods. */
export type Call = {
    readonly method: 'start';
    readonly request: StartRequest;
} | {
    readonly method: 'open';
    readonly request: OpenRequest;
    readonly model: ArrayBuffer;
    readonly weights: readonly ArrayBuffer[];
} | {
    readonly method: 'probe';
    readonly provider: string;
} | {
    readonly method: 'checksum';
    readonly bytes: ArrayBuffer;
} | {
    readonly method: 'close';
    readonly session: number;
} | {
    readonly method: 'run';
    readonly request: RunRequest;
};
/** A call; the answer has its number. */
export interface Question {
    readonly number: number;
    readonly call: Call;
}
/** An error, of which browsers would copy no code. */
export interface Failure {
    readonly code: ModelErrorCode;
    readonly message: string;
}
/** Result of a call. */
export interface Answer {
    readonly number: number;
    readonly value?: Checked | Opened | RunAnswer | undefined;
    readonly failure?: Failure;
}
export declare function failureOf(thrown: unknown): Failure;
export declare function errorOf({ code, message }: Failure): ModelError;
