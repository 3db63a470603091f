// The module worker in which models run.

import { checksumHere } from '../runtime/downloadMemory.js';
import { LocalHost, type RunAnswer } from './engine.js';
import { failureOf, type Answer, type Call, type Question } from './messages.js';

/** The part of a worker's global scope that is used here. */
interface Scope {
  onmessage: ((event: MessageEvent<Question>) => void) | null;
  postMessage(answer: Answer, transfer: readonly Transferable[]): void;
}

const scope = globalThis as unknown as Scope;
const host = new LocalHost();

scope.onmessage = ({ data: { number, call } }: MessageEvent<Question>): void => {
  void valueOf(call).then(
    ({ value, transfer = [] }) => {
      scope.postMessage({ number, value }, transfer);
    },
    (thrown: unknown) => {
      scope.postMessage({ number, failure: failureOf(thrown) }, []);
    },
  );
};

/** A value, and memory in it that moves to the page. */
interface Valued {
  readonly value?: Answer['value'];
  readonly transfer?: readonly ArrayBuffer[];
}

async function valueOf(call: Call): Promise<Valued> {
  if (call.method === 'open') return { value: await host.open(call.request, call.model, call.weights) };
  if (call.method === 'checksum') {
    const value = await checksumHere(call.bytes);
    return { value, transfer: [value.bytes] };
  }
  if (call.method === 'run') {
    const value = await host.run(call.request);
    return { value, transfer: buffersOf(value) };
  }
  if (call.method === 'start') await host.start(call.request);
  else if (call.method === 'probe') await host.probe(call.provider);
  else host.close(call.session);
  return {};
}

/** Memory of outputs that nothing else is in: it moves to the page. What ONNX Runtime shares is copied. */
function buffersOf({ outputs }: RunAnswer): ArrayBuffer[] {
  const whole = outputs.flatMap(({ bytes }) => (bytes !== null && bytes.byteLength === bytes.buffer.byteLength ? [bytes.buffer] : []));
  return [...new Set(whole)].filter((buffer): buffer is ArrayBuffer => buffer instanceof ArrayBuffer);
}
