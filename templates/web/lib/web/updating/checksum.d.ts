/** The SHA-256 of what `add` was given. */
export declare class Checksum256 {
    private readonly state;
    private readonly words;
    private readonly rest;
    private restBytes;
    private sizeBytes;
    add(bytes: Uint8Array): void;
    /** In hexadecimal. Nothing may be added any more. */
    end(): string;
    private mix;
}
