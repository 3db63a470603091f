/// <reference types="node" />
// ONNX Runtime's JavaScript API with a thread for each session: onnxruntime-node computes on the thread that calls it.

import { Worker } from 'node:worker_threads';
import { ModelError } from '../runtime/errors.js';
import type { OnnxRuntime, OrtSession, OrtSessionOptions, OrtTensor, OrtValueMetadata } from '../runtime/onnxruntimeApi.js';
import { fileOf } from './files.js';
import { BUSY, movable, type Answer, type OpenedSession, type Question, type SentTensor, type SentTensors } from './messages.js';

type Value = OpenedSession | SentTensors;

interface Waiting {
  readonly resolve: (value: Value) => void;
  readonly reject: (error: Error) => void;
}

/** Longest wait of a program that ends for a run, in milliseconds. */
const ENDING_MS = 30_000;

const threads = new Set<Thread>();

/** ONNX Runtime aborts the process when its thread ends during a run. */
process.on('exit', () => {
  for (const thread of threads) thread.waitUntilIdle();
});

/** A thread with a session. It keeps the process alive only while it has a question to answer. */
class Thread {
  private readonly worker: Worker;
  private readonly state: Int32Array<SharedArrayBuffer> = new Int32Array(new SharedArrayBuffer(4));
  private waiting: Waiting | null = null;
  private failure: ModelError | null = null;

  constructor() {
    // Node refuses files where the program itself was handed over with that option.
    const execArgv = process.execArgv.some((each) => each.startsWith('--input-type')) ? [] : process.execArgv;
    this.worker = new Worker(fileOf(new URL('./worker.js', import.meta.url).href), { workerData: this.state, execArgv });
    this.worker.on('message', (answer: Answer) => { this.settle(answer); });
    this.worker.on('error', (reason) => { this.fail(String(reason)); });
    this.worker.on('exit', (code) => { this.fail(`it ended with code ${String(code)}`); });
    this.worker.unref();
    threads.add(this);
  }

  waitUntilIdle(): void {
    Atomics.wait(this.state, 0, BUSY, ENDING_MS);
  }

  ask(question: Question, moved: readonly ArrayBuffer[]): Promise<Value> {
    const { failure, worker } = this;
    if (failure !== null) return Promise.reject(failure);
    return new Promise((resolve, reject) => {
      Atomics.store(this.state, 0, BUSY);
      worker.postMessage(question, moved);
      this.waiting = { resolve, reject };
      worker.ref();
    });
  }

  async end(): Promise<void> {
    await this.worker.terminate();
  }

  private settle(answer: Answer): void {
    const { waiting } = this;
    this.waiting = null;
    this.worker.unref();
    if ('failure' in answer) waiting?.reject(new Error(answer.failure));
    else waiting?.resolve(answer.value);
  }

  private fail(reason: string): void {
    this.failure ??= new ModelError('host', `the thread that runs the model has failed: ${reason}. Load the model again`);
    this.waiting?.reject(this.failure);
    this.waiting = null;
    threads.delete(this);
  }
}

class ThreadedSession implements OrtSession {
  readonly inputMetadata: readonly OrtValueMetadata[];
  readonly outputMetadata: readonly OrtValueMetadata[];
  private readonly thread: Thread;

  constructor(thread: Thread, { inputMetadata, outputMetadata }: OpenedSession) {
    this.thread = thread;
    this.inputMetadata = inputMetadata;
    this.outputMetadata = outputMetadata;
  }

  /** Memory of inputs moves to the thread. */
  async run(feeds: Readonly<Record<string, OrtTensor>>): Promise<Readonly<Record<string, OrtTensor>>> {
    const sent = Object.fromEntries(Object.entries(feeds).map(([name, tensor]) => [name, sentOf(tensor)]));
    return (await this.thread.ask({ method: 'run', feeds: sent }, movable(sent))) as SentTensors;
  }

  async release(): Promise<void> {
    await this.thread.ask({ method: 'release' }, []);
    await this.thread.end();
  }
}

function sentOf({ type, data, dims }: OrtTensor): SentTensor {
  if (!ArrayBuffer.isView(data)) return { type, data, dims };
  return { type, data: new Uint8Array(data.buffer, data.byteOffset, data.byteLength), dims };
}

/** A tensor that a session has not seen yet. */
class PlainTensor implements OrtTensor {
  readonly type: string;
  readonly data: OrtTensor['data'];
  readonly dims: readonly number[];

  constructor(type: string, data: OrtTensor['data'], dims: readonly number[]) {
    this.type = type;
    this.data = data;
    this.dims = dims;
  }
}

async function create(model: Uint8Array | string, options: OrtSessionOptions): Promise<OrtSession> {
  const thread = new Thread();
  try {
    return new ThreadedSession(thread, (await thread.ask({ method: 'open', model, options }, [])) as OpenedSession);
  } catch (reason) {
    await thread.end();
    throw reason;
  }
}

/** The part of onnxruntime-node that runs models. */
export const THREADED: OnnxRuntime = { InferenceSession: { create }, Tensor: PlainTensor, env: {} };
