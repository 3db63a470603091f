import { type Backend } from './backend.js';
import { type ModelDescriptor } from './descriptor.js';
import { ModelError } from './errors.js';
import { type Observed } from './observing.js';
import type { LoadOptions } from './options.js';
import { type Bytes, type Signature } from './trustBytes.js';
/**
 * Why a file is not trusted:
 *
 * - `unsigned`: nobody has signed the package: `mobpack sign` does that.
 * - `wrong-signature`: the list of the package's files is damaged, or none of the keys that this code was generated with
 *   signed it.
 * - `swapped`: the signed list is that of another package, or has no such file.
 * - `rolled-back`: the signed list is that of an older release than this code.
 */
export type TrustProblem = 'unsigned' | 'wrong-signature' | 'swapped' | 'rolled-back';
/** A file of a model is not opened, because the signed list of the package's files does not vouch for it. */
export declare class ModelUntrustedError extends ModelError {
    readonly problem: TrustProblem;
    /** Made by this package: an app only catches it. */
    constructor(problem: TrustProblem, message: string, options?: {
        readonly cause?: unknown;
    });
}
/** Keys and facts that a package's files are verified with. */
export interface Trust {
    /** Public keys: SubjectPublicKeyInfo in Base64. One, or two while one follows the other. */
    readonly keys: readonly string[];
    readonly packageName: string;
    /** Number of the release. */
    readonly number: number;
    /** The signed list of the package's files; null where there is none. */
    readonly readList: (backend: Backend) => Promise<string | null>;
    /** Whether the key, in DER, made the signature of the message. */
    readonly isSigned: (key: Bytes, message: Bytes, signature: Signature) => Promise<boolean>;
}
/**
 * Loads a model whose files the signed list vouches for.
 *
 * @throws ModelUntrustedError, and what `load` throws
 */
export declare function loadTrusted<Loaded extends Observed>(trust: Trust, descriptor: ModelDescriptor, options: LoadOptions | undefined, load: () => Promise<Loaded>): Promise<Loaded>;
