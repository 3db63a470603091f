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
export type ModelErrorCode = 'missing' | 'corrupted' | 'unreadable' | 'no-space' | 'network' | 'runtime' | 'out-of-memory' | 'host' | 'runtime-version' | 'bad-model' | 'bad-input' | 'bad-options' | 'busy' | 'disposed' | 'cancelled' | 'unsupported' | 'not-linked';
/** A model cannot be loaded or run. Every promise of this package that is rejected is rejected with one. */
export declare class ModelError extends Error {
    /** The reason, for code; `message` is for people. */
    readonly code: ModelErrorCode;
    /** Made by this package: an app only catches it. */
    constructor(code: ModelErrorCode, message: string, options?: {
        readonly cause?: unknown;
    });
    /** Error that was thrown, of an unknown type. */
    readonly cause?: unknown;
}
/** The error that native code means: its messages are `[code] words`, perhaps with words of React Native before them. */
export declare function toModelError(thrown: unknown): ModelError;
/** Error that ONNX Runtime reports: `runtime`, or `out-of-memory`. */
export declare function runtimeError(message: string, cause: unknown): ModelError;
/** Whether another provider may do better: the rest of what can go wrong is the same for all. */
export declare function isOfProvider({ code }: ModelError): boolean;
