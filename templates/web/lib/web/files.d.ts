export declare function isFile(address: string): boolean;
/**
 * The bytes of a file, checked.
 *
 * @throws ModelError `missing`, `corrupted`, or `unsupported` in a browser
 */
export declare function readFile(address: string, sizeBytes: number, sha256: string): Promise<ArrayBuffer>;
