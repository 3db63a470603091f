import { type Bytes } from '../trustBytes.js';
import type { Delivery } from './delivery.js';
import { type ChannelDocument } from './document.js';
/** A document that a key of the app has signed, for this package and channel. */
export interface Verified {
    readonly document: ChannelDocument;
    /** SHA-256 of the signed text. */
    readonly sha256: string;
}
type Sha256 = (bytes: Bytes) => Promise<string>;
/**
 * Verifies a Sigstore bundle with a document.
 *
 * @throws ModelUntrustedError `wrong-signature`, or `swapped` for a document of another package or channel
 */
export declare function verify(text: string, delivery: Delivery, sha256: Sha256): Promise<Verified>;
/** The text that bytes are in UTF-8. Not every engine has a TextDecoder, which is the faster way. */
export declare function textOf(bytes: Bytes): string;
export {};
