// ONNX Runtime's WebAssembly and the sessions in it: on the page's own thread, in a worker, or in Node.
import { checksumHere, keepInMemory } from '../runtime/downloadMemory.js';
import { ModelError } from '../runtime/errors.js';
import { OnnxRuntimeBackend } from '../runtime/onnxruntimeBackend.js';
import { PROVIDERS } from '../runtime/providers.js';
/** A function returning a vector of 16 bytes: `i32.const 0; i8x16.splat; i8x16.popcnt`. */
const SIMD = [0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11];
/** Runs sessions on the thread that calls it. */
export class LocalHost {
    hasFailed = false;
    started = null;
    /** @throws ModelError `unsupported` for a browser without WebAssembly's SIMD, `missing` for a script that is not there */
    async start({ script, binary, threads }) {
        if (!WebAssembly.validate(Uint8Array.from(SIMD))) {
            throw new ModelError('unsupported', "this browser's WebAssembly has no SIMD, which ONNX Runtime needs: update it");
        }
        const ort = await imported(script);
        const { wasm } = ort.env;
        wasm.wasmBinary = binary;
        wasm.numThreads = threads;
        this.started = new OnnxRuntimeBackend(ort, {}, true);
    }
    probe(provider) {
        return checkProvider(provider);
    }
    async open(request, model, weights) {
        request.weights.forEach((part, index) => {
            const bytes = weights[index];
            if (bytes !== undefined)
                keepInMemory(part, bytes);
        });
        return this.engine().open(request, model);
    }
    checksum(bytes) {
        return checksumHere(bytes);
    }
    close(session) {
        this.engine().close(session);
    }
    async run({ session, buffers, layout, texts }) {
        const engine = this.engine();
        const { kept } = await engine.run(session, 0, buffers, layout, texts, false);
        const outputs = engine.produced(kept);
        engine.drop(kept);
        return { outputs };
    }
    end() {
        this.started = null;
    }
    abandon() {
        // There is one ONNX Runtime on a thread.
    }
    engine() {
        if (this.started === null)
            throw new ModelError('runtime', 'ONNX Runtime was not started');
        return this.started;
    }
}
async function checkProvider(registeredName) {
    const wanted = new Map(Object.entries(PROVIDERS)).get(registeredName.toLowerCase())?.browserInterface;
    if (wanted === undefined)
        return;
    const { navigator = {} } = globalThis;
    const found = Reflect.get(navigator, wanted);
    if (found === undefined)
        throw lacks(registeredName);
    if ((await found.requestAdapter?.()) === null)
        throw lacks(`graphics processor for ${registeredName}`);
}
function lacks(what) {
    return new ModelError('runtime', `this browser has no ${what}: a newer one may, on a page with https`);
}
async function imported(script) {
    try {
        return (await import(/* webpackIgnore: true */ /* @vite-ignore */ script));
    }
    catch (reason) {
        throw new ModelError('missing', `ONNX Runtime's script ${script} cannot be loaded: ${String(reason)}`, { cause: reason });
    }
}
