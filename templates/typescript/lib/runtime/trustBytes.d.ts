export type Bytes = Uint8Array<ArrayBuffer>;
/** A signature on P-256: as it was written, and its r and s alone, 32 bytes each. */
export interface Signature {
    readonly der: Bytes;
    readonly numbers: Bytes;
}
/** The bytes of Base64 with padding (RFC 4648, 4); null for a text that is not Base64. */
export declare function base64Bytes(text: unknown): Bytes | null;
/** Base64, with padding, of bytes. */
export declare function base64Text(bytes: Bytes): string;
export declare function asciiBytes(text: string): Bytes;
/** The bytes of digits in hexadecimal; null for a text that is none. */
export declare function hexBytes(text: string): Bytes | null;
/** A text in UTF-8. Not every engine has a TextEncoder, which is the faster way. */
export declare function utf8Bytes(text: string): Bytes;
/** The text that bytes are in UTF-8; null where they are none. Not every engine has a TextDecoder, which is the faster way. */
export declare function utf8Text(bytes: Bytes): string | null;
/** r and s of a signature on P-256, 32 bytes each, of the one form that X.690's DER has for them; null for any other. */
export declare function signatureNumbers(der: Bytes): Bytes | null;
