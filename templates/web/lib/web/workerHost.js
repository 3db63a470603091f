// Sessions in a worker: the page's thread stays free while a model runs.
import { ModelError } from '../runtime/errors.js';
import { errorOf } from './messages.js';
/** Asks a worker, and gives its answers. */
export class WorkerHost {
    worker;
    waiting = new Map();
    last = 0;
    failure = null;
    isEnding = false;
    constructor(worker) {
        this.worker = worker;
        worker.onmessage = ({ data }) => {
            this.settle(data);
        };
        worker.onerror = (event) => {
            this.failFor(event.message);
        };
        worker.onmessageerror = () => {
            this.failFor('an answer of it cannot be read');
        };
    }
    get hasFailed() {
        return this.failure !== null;
    }
    async start(request) {
        await this.ask({ method: 'start', request }, [request.binary]);
    }
    async probe(provider) {
        await this.ask({ method: 'probe', provider }, []);
    }
    async open(request, model, weights) {
        const all = [...new Set([model, ...weights])];
        return (await this.ask({ method: 'open', request, model, weights }, all));
    }
    async checksum(bytes) {
        return (await this.ask({ method: 'checksum', bytes }, [bytes]));
    }
    /** Nothing is left to close in a worker that has failed. */
    close(session) {
        this.ask({ method: 'close', session }, []).catch(() => undefined);
    }
    async run(request) {
        return (await this.ask({ method: 'run', request }, [...new Set(request.buffers)]));
    }
    end() {
        this.isEnding = true;
        this.endIfIdle();
    }
    abandon() {
        this.fail('the worker that runs models did not answer');
    }
    endIfIdle() {
        if (this.isEnding && this.waiting.size === 0)
            this.worker.terminate();
    }
    ask(call, transfer) {
        if (this.failure !== null)
            return Promise.reject(this.failure);
        this.last += 1;
        const number = this.last;
        return new Promise((resolve, reject) => {
            const question = { number, call };
            this.worker.postMessage(question, transfer);
            this.waiting.set(number, { resolve, reject });
        });
    }
    settle({ number, value, failure }) {
        const waiting = this.waiting.get(number);
        this.waiting.delete(number);
        if (failure === undefined)
            waiting?.resolve(value);
        else
            waiting?.reject(errorOf(failure));
        this.endIfIdle();
    }
    /** Browsers do not say why a script was not loaded. */
    failFor(message) {
        const why = message === undefined || message === '' ? 'its script was not loaded' : message;
        this.fail(`the worker that runs models has failed: ${why}. A Content-Security-Policy must allow worker-src 'self'; ` +
            'setUp({ base }) says where a copy of the package is, setUp({ worker: false }) does without a worker');
    }
    /** For good: whatever it has is lost. */
    fail(message) {
        this.failure = new ModelError('host', message);
        this.worker.terminate();
        for (const { reject } of this.waiting.values())
            reject(this.failure);
        this.waiting.clear();
    }
}
