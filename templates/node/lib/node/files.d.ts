import type { Part } from '../runtime/backend.js';
/**
 * The path of a file with the address `url`. Electron keeps an app in `app.asar`, which ONNX Runtime cannot read, and the
 * files that `asarUnpack` names beside it.
 */
export declare function fileOf(url: string): string;
/**
 * Checks a file by its size and SHA-256, and gives its size.
 *
 * @throws ModelError `missing`, `unreadable`, `corrupted`
 */
export declare function checkFile({ path, size, sha256 }: Part): Promise<number>;
