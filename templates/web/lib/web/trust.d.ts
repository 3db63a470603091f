import type { Backend } from '../runtime/backend.js';
/**
 * The list in the package, whose address is `url` unless the page has a copy of the package; null where there is none.
 *
 * @throws ModelError `network`
 */
export declare function readList(backend: Backend, url: string): Promise<string | null>;
/**
 * Whether the key, SubjectPublicKeyInfo in DER, made the signature, r and s, of the message.
 *
 * @throws ModelError `unsupported` where the browser verifies nothing
 */
export declare function isSigned(spki: Uint8Array<ArrayBuffer>, message: Uint8Array<ArrayBuffer>, signature: Uint8Array<ArrayBuffer>): Promise<boolean>;
