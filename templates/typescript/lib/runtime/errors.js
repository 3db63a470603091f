// Errors of calls to a model.
const CODES = new Set([
    'missing',
    'corrupted',
    'unreadable',
    'no-space',
    'network',
    'runtime',
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
    if (code !== undefined && words !== undefined && isCode(code))
        return new ModelError(code, words, { cause: thrown });
    return new ModelError('runtime', message, { cause: thrown });
}
function isCode(text) {
    return CODES.has(text);
}
