// Sessions in a worker: the page's thread stays free while a model runs.

import type { Checked, Opened, OpenRequest } from '../runtime/backend.js';
import { ModelError } from '../runtime/errors.js';
import type { Host, RunAnswer, RunRequest, StartRequest } from './engine.js';
import { errorOf, type Answer, type Call, type Question } from './messages.js';

interface Waiting {
  readonly resolve: (value: Answer['value']) => void;
  readonly reject: (error: ModelError) => void;
}

/** Asks a worker, and gives its answers. */
export class WorkerHost implements Host {
  private readonly worker: Worker;
  private readonly waiting = new Map<number, Waiting>();
  private last = 0;
  private failure: ModelError | null = null;
  private isEnding = false;

  constructor(worker: Worker) {
    this.worker = worker;
    worker.onmessage = ({ data }: MessageEvent<Answer>): void => {
      this.settle(data);
    };
    worker.onerror = (event): void => {
      this.failFor(event.message);
    };
    worker.onmessageerror = (): void => {
      this.failFor('an answer of it cannot be read');
    };
  }

  get hasFailed(): boolean {
    return this.failure !== null;
  }

  async start(request: StartRequest): Promise<void> {
    await this.ask({ method: 'start', request }, [request.binary]);
  }

  async probe(provider: string): Promise<void> {
    await this.ask({ method: 'probe', provider }, []);
  }

  async open(request: OpenRequest, model: ArrayBuffer, weights: readonly ArrayBuffer[]): Promise<Opened> {
    const all = [...new Set([model, ...weights])];
    return (await this.ask({ method: 'open', request, model, weights }, all)) as Opened;
  }

  async checksum(bytes: ArrayBuffer): Promise<Checked> {
    return (await this.ask({ method: 'checksum', bytes }, [bytes])) as Checked;
  }

  /** Nothing is left to close in a worker that has failed. */
  close(session: number): void {
    this.ask({ method: 'close', session }, []).catch(() => undefined);
  }

  async run(request: RunRequest): Promise<RunAnswer> {
    return (await this.ask({ method: 'run', request }, [...new Set(request.buffers)])) as RunAnswer;
  }

  end(): void {
    this.isEnding = true;
    this.endIfIdle();
  }

  abandon(): void {
    this.fail('the worker that runs models did not answer');
  }

  private endIfIdle(): void {
    if (this.isEnding && this.waiting.size === 0) this.worker.terminate();
  }

  private ask(call: Call, transfer: Transferable[]): Promise<Answer['value']> {
    if (this.failure !== null) return Promise.reject(this.failure);
    this.last += 1;
    const number = this.last;
    return new Promise((resolve, reject) => {
      const question: Question = { number, call };
      this.worker.postMessage(question, transfer);
      this.waiting.set(number, { resolve, reject });
    });
  }

  private settle({ number, value, failure }: Answer): void {
    const waiting = this.waiting.get(number);
    this.waiting.delete(number);
    if (failure === undefined) waiting?.resolve(value);
    else waiting?.reject(errorOf(failure));
    this.endIfIdle();
  }

  /** Browsers do not say why a script was not loaded. */
  private failFor(message: string | undefined): void {
    const why = message === undefined || message === '' ? 'its script was not loaded' : message;
    this.fail(
      `the worker that runs models has failed: ${why}. A Content-Security-Policy must allow worker-src 'self'; ` +
        'setUp({ base }) says where a copy of the package is, setUp({ worker: false }) does without a worker',
    );
  }

  /** For good: whatever it has is lost. */
  private fail(message: string): void {
    this.failure = new ModelError('host', message);
    this.worker.terminate();
    for (const { reject } of this.waiting.values()) reject(this.failure);
    this.waiting.clear();
  }
}
