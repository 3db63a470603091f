import type { Backend } from '../runtime/backend.js';
import type { Bytes, Signature } from '../runtime/trustBytes.js';
/**
 * The list in the package, whose address is `url` unless the page has a copy of the package; null where there is none.
 *
 * @throws ModelError `network`
 */
export declare function readList(backend: Backend, url: string): Promise<string | null>;
/**
 * Whether the key, SubjectPublicKeyInfo in DER, made the signature of the message.
 *
 * @throws ModelError `unsupported` where the browser verifies nothing
 */
export declare function isSigned(spki: Bytes, message: Bytes, { numbers }: Signature): Promise<boolean>;
