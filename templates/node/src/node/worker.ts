/// <reference types="node" />
// The thread of a session.

import { parentPort, workerData } from 'node:worker_threads';
import { toModelError } from '../runtime/errors.js';
import type { OrtApi, OrtSession } from '../runtime/onnxruntimeApi.js';
import { inputTensor, producedBy } from '../runtime/onnxruntimeTensors.js';
import { movable, type Answer, type OpenedSession, type Question, type SentTensors } from './messages.js';

interface Open {
  readonly ort: OrtApi;
  readonly session: OrtSession;
}

const state = workerData as Int32Array<SharedArrayBuffer>;
let open: Open | null = null;

parentPort?.on('message', (question: Question) => {
  void answerTo(question).then((answer) => {
    parentPort?.postMessage(answer, 'value' in answer && question.method === 'run' ? movable(answer.value as SentTensors) : []);
  });
});

async function answerTo(question: Question): Promise<Answer> {
  try {
    if (question.method === 'open') return { value: await opened(question) };
    if (question.method === 'run') return { value: await ran(question.feeds) };
    await open?.session.release();
    return { value: {} };
  } catch (thrown) {
    const { code, message } = toModelError(thrown);
    return { failure: `[${code}] ${message}` };
  } finally {
    Atomics.store(state, 0, 0);
    Atomics.notify(state, 0);
  }
}

async function opened({ model, options }: Question & { readonly method: 'open' }): Promise<OpenedSession> {
  const ort = await imported();
  const session = await ort.InferenceSession.create(model, options);
  open = { ort, session };
  const { inputMetadata, outputMetadata } = session;
  return { inputMetadata, outputMetadata };
}

async function imported(): Promise<OrtApi> {
  try {
    const { default: ort } = await import('onnxruntime-node');
    return ort as unknown as OrtApi;
  } catch (reason) {
    throw new Error(
      `[not-linked] onnxruntime-node does not load on ${process.platform} ${process.arch}: ${String(reason)}. It has ` +
        'files for Linux with glibc, macOS on Apple silicon and Windows; `npm install onnxruntime-node` fetches them, ' +
        'and an Electron app must leave them out of its archive (asarUnpack)',
    );
  }
}

async function ran(feeds: SentTensors): Promise<SentTensors> {
  if (open === null) throw new Error('the session is not open');
  const { ort, session } = open;
  const tensors = Object.entries(feeds).map(([name, { type, data, dims }]) => {
    const info = { name, isTensor: true, type };
    if (!(data instanceof Uint8Array)) {
      return [name, inputTensor(ort, info, { buffer: new ArrayBuffer(0), byteOffset: 0, byteLength: 0, shape: dims }, data)];
    }
    const { byteOffset, byteLength } = data;
    return [name, inputTensor(ort, info, { buffer: data.buffer as ArrayBuffer, byteOffset, byteLength, shape: dims }, [])];
  });
  const results = await session.run(Object.fromEntries(tensors));
  return Object.fromEntries(
    Object.entries(results).map(([name, tensor]) => {
      const { bytes, texts, shape } = producedBy(tensor);
      return [name, { type: tensor.type, data: bytes ?? texts, dims: shape }];
    }),
  );
}
