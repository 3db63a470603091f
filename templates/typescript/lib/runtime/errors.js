// Errors of calls to a model.
const CODES = new Set([
    'missing',
    'corrupted',
    'unreadable',
    'no-space',
    'network',
    'runtime',
    'out-of-memory',
    'host',
    'runtime-version',
    'bad-model',
    'bad-input',
    'bad-options',
    'busy',
    'disposed',
    'cancelled',
    'unsupported',
    'not-linked',
]);
/** A model cannot be loaded or run. Every promise of this package that is rejected is rejected with one. */
export class ModelError extends Error {
    /** The reason, for code; `message` is for people. */
    code;
    /** Made by this package: an app only catches it. */
    constructor(code, message, options) {
        super(message);
        this.name = 'ModelError';
        this.code = code;
        // Not every engine takes it in the constructor.
        if (options?.cause !== undefined)
            this.cause = options.cause;
    }
}
/** The error that native code means: its messages are `[code] words`, perhaps with words of React Native before them. */
export function toModelError(thrown) {
    if (thrown instanceof ModelError)
        return thrown;
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    const found = /\[([a-z-]+)\] ([\s\S]*)/.exec(message);
    const [, code, words] = found ?? [];
    if (code === undefined || words === undefined || !isCode(code))
        return runtimeError(message, thrown);
    return code === 'runtime' ? runtimeError(words, thrown) : new ModelError(code, words, { cause: thrown });
}
/** Words of ONNX Runtime, of WebAssembly and of JavaScript's engines for memory that they did not get. */
const NO_MEMORY = /bad_alloc|bad alloc|out of memory|\(OOM\)|cannot enlarge memory|allocation failed|failed to allocate/i;
/** Error that ONNX Runtime reports: `runtime`, or `out-of-memory`. */
export function runtimeError(message, cause) {
    return new ModelError(NO_MEMORY.test(message) ? 'out-of-memory' : 'runtime', message, { cause });
}
/** Whether another provider may do better: the rest of what can go wrong is the same for all. */
export function isOfProvider({ code }) {
    return code === 'runtime' || code === 'out-of-memory';
}
function isCode(text) {
    return CODES.has(text);
}
