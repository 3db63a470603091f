/// <reference types="node" />
// ONNX Runtime's JavaScript API with a thread for each session: onnxruntime-node computes on the thread that calls it.
import { Worker } from 'node:worker_threads';
import { ModelError } from '../runtime/errors.js';
import { fileOf } from './files.js';
import { BUSY, movable } from './messages.js';
/** Longest wait of a program that ends for a run, in milliseconds. */
const ENDING_MS = 30_000;
const threads = new Set();
/** ONNX Runtime aborts the process when its thread ends during a run. */
process.on('exit', () => {
    for (const thread of threads)
        thread.waitUntilIdle();
});
/** A thread with a session. It keeps the process alive only while it has a question to answer. */
class Thread {
    worker;
    state = new Int32Array(new SharedArrayBuffer(4));
    waiting = null;
    failure = null;
    constructor() {
        // Node refuses files where the program itself was handed over with that option.
        const execArgv = process.execArgv.some((each) => each.startsWith('--input-type')) ? [] : process.execArgv;
        this.worker = new Worker(fileOf(new URL('./worker.js', import.meta.url).href), { workerData: this.state, execArgv });
        this.worker.on('message', (answer) => { this.settle(answer); });
        this.worker.on('error', (reason) => { this.fail(String(reason)); });
        this.worker.on('exit', (code) => { this.fail(`it ended with code ${String(code)}`); });
        this.worker.unref();
        threads.add(this);
    }
    waitUntilIdle() {
        Atomics.wait(this.state, 0, BUSY, ENDING_MS);
    }
    ask(question, moved) {
        const { failure, worker } = this;
        if (failure !== null)
            return Promise.reject(failure);
        return new Promise((resolve, reject) => {
            Atomics.store(this.state, 0, BUSY);
            worker.postMessage(question, moved);
            this.waiting = { resolve, reject };
            worker.ref();
        });
    }
    async end() {
        await this.worker.terminate();
    }
    settle(answer) {
        const { waiting } = this;
        this.waiting = null;
        this.worker.unref();
        if ('failure' in answer)
            waiting?.reject(new Error(answer.failure));
        else
            waiting?.resolve(answer.value);
    }
    fail(reason) {
        this.failure ??= new ModelError('host', `the thread that runs the model has failed: ${reason}. Load the model again`);
        this.waiting?.reject(this.failure);
        this.waiting = null;
        threads.delete(this);
    }
}
class ThreadedSession {
    inputMetadata;
    outputMetadata;
    thread;
    constructor(thread, { inputMetadata, outputMetadata }) {
        this.thread = thread;
        this.inputMetadata = inputMetadata;
        this.outputMetadata = outputMetadata;
    }
    /** Memory of inputs moves to the thread. */
    async run(feeds) {
        const sent = Object.fromEntries(Object.entries(feeds).map(([name, tensor]) => [name, sentOf(tensor)]));
        return (await this.thread.ask({ method: 'run', feeds: sent }, movable(sent)));
    }
    async release() {
        await this.thread.ask({ method: 'release' }, []);
        await this.thread.end();
    }
}
function sentOf({ type, data, dims }) {
    if (!ArrayBuffer.isView(data))
        return { type, data, dims };
    return { type, data: new Uint8Array(data.buffer, data.byteOffset, data.byteLength), dims };
}
/** A tensor that a session has not seen yet. */
class PlainTensor {
    type;
    data;
    dims;
    constructor(type, data, dims) {
        this.type = type;
        this.data = data;
        this.dims = dims;
    }
}
async function create(model, options) {
    const thread = new Thread();
    try {
        return new ThreadedSession(thread, (await thread.ask({ method: 'open', model, options }, [])));
    }
    catch (reason) {
        await thread.end();
        throw reason;
    }
}
/** The part of onnxruntime-node that runs models. */
export const THREADED = { InferenceSession: { create }, Tensor: PlainTensor, env: {} };
