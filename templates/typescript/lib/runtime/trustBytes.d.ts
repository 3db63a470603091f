type Bytes = Uint8Array<ArrayBuffer>;
/** The bytes that Base64 with padding (RFC 4648, 4) stands for; null for what is none. */
export declare function base64Bytes(text: unknown): Bytes | null;
/** r and s of a signature on P-256, 32 bytes each, of the one form that X.690's DER has for them; null for any other. */
export declare function signatureNumbers(der: Bytes): Bytes | null;
export {};
