// The module worker in which models run.
import { checksumHere } from '../runtime/downloadMemory.js';
import { LocalHost } from './engine.js';
import { failureOf } from './messages.js';
const scope = globalThis;
const host = new LocalHost();
scope.onmessage = ({ data: { number, call } }) => {
    void valueOf(call).then(({ value, transfer = [] }) => {
        scope.postMessage({ number, value }, transfer);
    }, (thrown) => {
        scope.postMessage({ number, failure: failureOf(thrown) }, []);
    });
};
async function valueOf(call) {
    if (call.method === 'open')
        return { value: await host.open(call.request, call.model, call.weights) };
    if (call.method === 'checksum') {
        const value = await checksumHere(call.bytes);
        return { value, transfer: [value.bytes] };
    }
    if (call.method === 'run') {
        const value = await host.run(call.request);
        return { value, transfer: buffersOf(value) };
    }
    if (call.method === 'start')
        await host.start(call.request);
    else if (call.method === 'probe')
        await host.probe(call.provider);
    else
        host.close(call.session);
    return {};
}
/** Memory of outputs that nothing else is in: it moves to the page. What ONNX Runtime shares is copied. */
function buffersOf({ outputs }) {
    const whole = outputs.flatMap(({ bytes }) => (bytes !== null && bytes.byteLength === bytes.buffer.byteLength ? [bytes.buffer] : []));
    return [...new Set(whole)].filter((buffer) => buffer instanceof ArrayBuffer);
}
