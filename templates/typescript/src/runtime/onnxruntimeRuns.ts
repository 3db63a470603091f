// Runs of a session by ONNX Runtime's JavaScript API: one after the other, for it refuses two at once.

import { ModelError, toModelError } from './errors.js';
import type { OrtApi, OrtSession, OrtTensor } from './onnxruntimeApi.js';
import { now } from './observing.js';
import { inputTensor, placedTensors, producedBy, write, type Placed, type Produced } from './onnxruntimeTensors.js';

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
export class Times {
  queued = 0;
  duration = 0;
  private readonly isAsked: boolean;
  private last: number;

  /** Now the run is asked for. */
  constructor(isAsked: boolean) {
    this.isAsked = isAsked;
    this.last = isAsked ? now() : 0;
  }

  begin(): void {
    this.queued = this.lap();
  }

  end(): void {
    this.duration = this.lap();
  }

  private lap(): number {
    const before = this.last;
    this.last = this.isAsked ? now() : 0;
    return this.last - before;
  }
}

/** A session, and the runs that wait for it. */
export class Runner {
  private readonly ort: OrtApi;
  private readonly session: OrtSession;
  private readonly ownsInputs: boolean;
  private last: Promise<unknown> = Promise.resolve();

  constructor(ort: OrtApi, session: OrtSession, ownsInputs: boolean) {
    this.ort = ort;
    this.session = session;
    this.ownsInputs = ownsInputs;
  }

  /**
   * Every output; those with memory of the app are also written there. Inputs are copied before this returns, unless
   * nobody else has them.
   */
  async run(call: RunCall): Promise<readonly Produced[]> {
    const placed = this.placed(call);
    const ended = this.last.then(() => this.compute(placed, call));
    this.last = ended.catch(() => undefined);
    return cancellable(ended, call.signal);
  }

  /** Frees the session's memory after the runs that were asked for. What fails then is nobody's any more. */
  release(): void {
    this.last = this.last.then(() => this.session.release()).catch(() => undefined);
  }

  private placed(call: RunCall): readonly Placed[] {
    const { inputMetadata, outputMetadata } = this.session;
    const placed = placedTensors(call.buffers, call.layout);
    if (placed.length !== inputMetadata.length + outputMetadata.length) {
      throw new ModelError('bad-input', `a run has ${String(placed.length)} tensors, the model another number`);
    }
    if (this.ownsInputs) return placed;
    return placed.map((tensor, index) => (index < inputMetadata.length ? copied(tensor) : tensor));
  }

  private async compute(placed: readonly Placed[], call: RunCall): Promise<readonly Produced[]> {
    throwIfCancelled(call.signal);
    const { inputMetadata, outputMetadata } = this.session;
    call.times.begin();
    const results = await this.session.run(this.feeds(placed, call.texts)).catch((reason: unknown) => {
      throw toModelError(reason);
    });
    call.times.end();
    throwIfCancelled(call.signal);
    return outputMetadata.map(({ name }, index) => {
      const into = placed[inputMetadata.length + index];
      const made = producedBy(found(results[name], name));
      if (into !== undefined && into.byteLength >= 0) write(name, made, into);
      return made;
    });
  }

  private feeds(placed: readonly Placed[], texts: ReadonlyArray<readonly string[]>): Record<string, OrtTensor> {
    let next = 0;
    const feeds: Record<string, OrtTensor> = {};
    this.session.inputMetadata.forEach((info, index) => {
      const values = info.type === 'string' ? (texts[next++] ?? []) : [];
      feeds[info.name] = inputTensor(this.ort, info, found(placed[index], info.name), values);
    });
    return feeds;
  }
}

/** A copy of what lies in the app's memory. */
export function copied({ buffer, byteOffset, byteLength, shape }: Placed): Placed {
  return { buffer: buffer.slice(byteOffset, byteOffset + byteLength), byteOffset: 0, byteLength, shape };
}

function found<T>(value: T | undefined, name: string): T {
  if (value === undefined) throw new ModelError('runtime', `ONNX Runtime has nothing for \`${name}\``);
  return value;
}

/** @throws ModelError `cancelled` */
export function throwIfCancelled(signal: AbortSignal): void {
  if (signal.aborted) throw new ModelError('cancelled', 'the run was cancelled');
}

/** `ended`, or a rejection as soon as `signal` is aborted: the API cannot end a run that is under way. */
export function cancellable<T>(ended: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => {
      reject(new ModelError('cancelled', 'the run was cancelled'));
    });
    ended.then(resolve, reject);
  });
}
