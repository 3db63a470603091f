// Verifies the signed list of a package's files with what browsers, and Node, have.
import { ModelError } from '../runtime/errors.js';
import { isFile, readFile } from './files.js';
const LIST = 'models.sig';
const ECDSA = { name: 'ECDSA', namedCurve: 'P-256' };
/**
 * The list in the package, whose address is `url` unless the page has a copy of the package; null where there is none.
 *
 * @throws ModelError `network`
 */
export async function readList(backend, url) {
    const { path } = await backend.locate(LIST, -1, url);
    if (isFile(path))
        return readFromDisk(path);
    const answer = await fetched(path);
    if (answer.status === 404 || answer.status === 410)
        return null;
    if (!answer.ok)
        throw new ModelError('network', `${path} answers with status ${String(answer.status)}`);
    return answer.text();
}
async function readFromDisk(path) {
    try {
        return new TextDecoder().decode(await readFile(path, -1, ''));
    }
    catch (reason) {
        if (reason instanceof ModelError && reason.code === 'missing')
            return null;
        throw reason;
    }
}
/** Anew at each load: what a browser has kept of an earlier release would be refused. */
async function fetched(path) {
    try {
        return await fetch(path, { cache: 'no-cache' });
    }
    catch (reason) {
        throw new ModelError('network', `${path} cannot be fetched: ${String(reason)}`, { cause: reason });
    }
}
/**
 * Whether the key, SubjectPublicKeyInfo in DER, made the signature of the message.
 *
 * @throws ModelError `unsupported` where the browser verifies nothing
 */
export async function isSigned(spki, message, { numbers }) {
    const { crypto } = globalThis;
    if (crypto?.subtle === undefined) {
        throw new ModelError('unsupported', 'signatures can be verified in pages from https: addresses or from localhost only: serve the page over https');
    }
    const key = await crypto.subtle.importKey('spki', spki, ECDSA, false, ['verify']);
    return crypto.subtle.verify({ name: 'ECDSA', hash: 'SHA-256' }, key, numbers, message);
}
