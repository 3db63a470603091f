// Errors of calls to a model.

/**
 * Why a call failed:
 *
 * - `missing`: a file of the model is not there.
 * - `corrupted`: a file is not the one that the package was built with, or not the one whose SHA-256 was given.
 * - `unreadable`: a file is there and cannot be read or written.
 * - `no-space`: the device has no room for a download.
 * - `network`: a download did not succeed.
 * - `runtime`: ONNX Runtime reports an error; the message is its own.
 * - `out-of-memory`: there was not enough memory for the model, its tensors or a run.
 * - `host`: what runs models has failed, such as a page's worker; the next call gets another one.
 * - `runtime-version`: the app has another ONNX Runtime than this package was built for.
 * - `bad-model`: a file of the app's own has other inputs or outputs than this model.
 * - `bad-input`: a tensor has another type, length or shape than the model takes or gives.
 * - `bad-options`: an option has an invalid value.
 * - `busy`: as many calls as the option `queue` allows have not ended yet.
 * - `disposed`: the model was disposed of before the call.
 * - `cancelled`: the call's own signal was aborted.
 * - `unsupported`: this platform cannot do that.
 * - `not-linked`: the app was built without the native part of this package.
 */
export type ModelErrorCode =
  | 'missing'
  | 'corrupted'
  | 'unreadable'
  | 'no-space'
  | 'network'
  | 'runtime'
  | 'out-of-memory'
  | 'host'
  | 'runtime-version'
  | 'bad-model'
  | 'bad-input'
  | 'bad-options'
  | 'busy'
  | 'disposed'
  | 'cancelled'
  | 'unsupported'
  | 'not-linked';

const CODES: ReadonlySet<string> = new Set<ModelErrorCode>([
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
  readonly code: ModelErrorCode;

  /** Made by this package: an app only catches it. */
  constructor(code: ModelErrorCode, message: string, options?: { readonly cause?: unknown }) {
    super(message);
    this.name = 'ModelError';
    this.code = code;
    // Not every engine takes it in the constructor.
    if (options?.cause !== undefined) this.cause = options.cause;
  }

  /** Error that was thrown, of an unknown type. */
  declare readonly cause?: unknown;
}

/** The error that native code means: its messages are `[code] words`, perhaps with words of React Native before them. */
export function toModelError(thrown: unknown): ModelError {
  if (thrown instanceof ModelError) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const found = /\[([a-z-]+)\] ([\s\S]*)/.exec(message);
  const [, code, words] = found ?? [];
  if (code === undefined || words === undefined || !isCode(code)) return runtimeError(message, thrown);
  return code === 'runtime' ? runtimeError(words, thrown) : new ModelError(code, words, { cause: thrown });
}

/** Words of ONNX Runtime, of WebAssembly and of JavaScript's engines for memory that they did not get. */
const NO_MEMORY = /bad_alloc|bad alloc|out of memory|\(OOM\)|cannot enlarge memory|allocation failed|failed to allocate/i;

/** Error that ONNX Runtime reports: `runtime`, or `out-of-memory`. */
export function runtimeError(message: string, cause: unknown): ModelError {
  return new ModelError(NO_MEMORY.test(message) ? 'out-of-memory' : 'runtime', message, { cause });
}

/** Whether another provider may do better: the rest of what can go wrong is the same for all. */
export function isOfProvider({ code }: ModelError): boolean {
  return code === 'runtime' || code === 'out-of-memory';
}

function isCode(text: string): text is ModelErrorCode {
  return CODES.has(text);
}
