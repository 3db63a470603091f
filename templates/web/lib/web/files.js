// Files on disk, under Node.
import { checkBytes } from '../runtime/downloadMemory.js';
import { ModelError } from '../runtime/errors.js';
export function isFile(address) {
    return address.startsWith('file:');
}
/**
 * The bytes of a file, checked.
 *
 * @throws ModelError `missing`, `corrupted`, or `unsupported` in a browser
 */
export async function readFile(address, sizeBytes, sha256) {
    const { process } = globalThis;
    const fileSystem = process?.getBuiltinModule?.('node:fs/promises');
    if (fileSystem === undefined) {
        throw new ModelError('unsupported', `${address} is a file on disk: serve the page over http, or use Node 22.3 or later`);
    }
    const content = await fileSystem.readFile(new URL(address)).catch((reason) => {
        throw new ModelError('missing', `${address} cannot be read: ${String(reason)}`, { cause: reason });
    });
    await checkBytes(content, sizeBytes, sha256, address);
    return content.buffer.slice(content.byteOffset, content.byteOffset + content.byteLength);
}
