// What a page and its worker tell each other.

import type { Checked, Opened, OpenRequest } from '../runtime/backend.js';
import { ModelError, toModelError, type ModelErrorCode } from '../runtime/errors.js';
import type { RunAnswer, RunRequest, StartRequest } from './engine.js';

/** Calls of a worker's host, by its methods. */
export type Call =
  | { readonly method: 'start'; readonly request: StartRequest }
  | {
      readonly method: 'open';
      readonly request: OpenRequest;
      readonly model: ArrayBuffer;
      readonly weights: readonly ArrayBuffer[];
    }
  | { readonly method: 'probe'; readonly provider: string }
  | { readonly method: 'checksum'; readonly bytes: ArrayBuffer }
  | { readonly method: 'close'; readonly session: number }
  | { readonly method: 'run'; readonly request: RunRequest };

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

export function failureOf(thrown: unknown): Failure {
  const { code, message } = toModelError(thrown);
  return { code, message };
}

export function errorOf({ code, message }: Failure): ModelError {
  return new ModelError(code, message);
}
