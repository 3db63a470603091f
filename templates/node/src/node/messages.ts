// What a session and its thread tell each other. One question at a time is open.

import type { OrtSessionOptions, OrtValueMetadata } from '../runtime/onnxruntimeApi.js';

/** State of a thread from when it is asked until it has an answer; otherwise the state is 0. */
export const BUSY: number = 1;

/** A tensor on its way: the bytes of its values, or strings. */
export interface SentTensor {
  readonly type: string;
  readonly data: Uint8Array | readonly string[];
  readonly dims: readonly number[];
}

export type SentTensors = Readonly<Record<string, SentTensor>>;

export type Question =
  | { readonly method: 'open'; readonly model: Uint8Array | string; readonly options: OrtSessionOptions }
  | { readonly method: 'run'; readonly feeds: SentTensors }
  | { readonly method: 'release' };

/** Inputs and outputs of an open session. */
export interface OpenedSession {
  readonly inputMetadata: readonly OrtValueMetadata[];
  readonly outputMetadata: readonly OrtValueMetadata[];
}

export type Answer =
  | { readonly value: OpenedSession | SentTensors }
  /** The error's message, which begins with a `ModelErrorCode` in brackets unless ONNX Runtime reports it. */
  | { readonly failure: string };

/** Memory that nothing else lies in: it moves to the other thread instead of being copied. */
export function movable(tensors: SentTensors): ArrayBuffer[] {
  const whole = Object.values(tensors).flatMap(({ data }) =>
    data instanceof Uint8Array && data.byteLength === data.buffer.byteLength && data.buffer instanceof ArrayBuffer ? [data.buffer] : [],
  );
  return [...new Set(whole)];
}
