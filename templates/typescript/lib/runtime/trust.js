// The signed list of a package's files: only files that it vouches for are opened.
import { currentBackend } from './backend.js';
import { platformFiles } from './descriptor.js';
import { ModelError, toModelError } from './errors.js';
import { observeLoad } from './observing.js';
import { checkOptions } from './permitting.js';
import { asciiBytes, base64Bytes, signatureNumbers, utf8Text } from './trustBytes.js';
/** A file of a model is not opened, because the signed list of the package's files does not vouch for it. */
export class ModelUntrustedError extends ModelError {
    problem;
    /** Made by this package: an app only catches it. */
    constructor(problem, message, options) {
        super('corrupted', message, options);
        this.name = 'ModelUntrustedError';
        this.problem = problem;
    }
}
const PAYLOAD_TYPE = 'application/vnd.in-toto+json';
const STATEMENT = 'https://in-toto.io/Statement/v1';
const PREDICATE = 'https://model_signing/signature/v1.0';
const NAME = 'models.sig';
/**
 * Loads a model whose files the signed list vouches for.
 *
 * @throws ModelUntrustedError, and what `load` throws
 */
export async function loadTrusted(trust, descriptor, options, load) {
    const given = options ?? {};
    checkOptions(given);
    const backend = currentBackend();
    const { observer, source = 'bundled' } = given;
    try {
        checkFiles(await digestsOf(trust, backend), descriptor, backend, source);
    }
    catch (reason) {
        // The observer hears of it as of any load that fails.
        const failed = Promise.reject(toModelError(reason));
        return observer === undefined ? failed : observeLoad(observer, descriptor.name, failed, given, backend);
    }
    return load();
}
/** Throws unless every file that the model may open is in the list. Its bytes are checked when it is opened. */
function checkFiles(digests, descriptor, backend, source) {
    const { files } = platformFiles(descriptor, backend.platform);
    const packaged = [
        ...files.flatMap((file) => [file, ...file.weights]),
        ...descriptor.golden.map(({ file }) => file),
    ];
    for (const { path, sha256 } of packaged) {
        if (digests.get(path) !== sha256)
            throw unlisted(`${path} with sha256 ${sha256}`);
    }
    if (source === 'bundled' || 'url' in source || 'folder' in source)
        return;
    const sha256 = source.sha256?.toLowerCase() ?? '';
    if (sha256 === '')
        throw unlisted("a file of the app's own without source.sha256");
    if (![...digests.values()].includes(sha256))
        throw unlisted(`a file of the app's own with sha256 ${sha256}`);
}
function unlisted(file) {
    return new ModelUntrustedError('swapped', `${file} is not in the signed list of this package's files: use the files of one release, and sign it after its ` +
        'last change with `mobpack sign`');
}
/** SHA-256 by name, of a list that a key has vouched for. */
async function digestsOf(trust, backend) {
    const text = await trust.readList(backend);
    if (text === null)
        throw unsigned(`${NAME} is not there`);
    const statement = parsed(await payloadOf(trust, member(parsed(text), 'dsseEnvelope')));
    const form = member(member(statement, 'predicate'), 'serialization');
    const said = [member(statement, '_type'), member(statement, 'predicateType'), member(form, 'method'), member(form, 'hash_type')];
    if (said.join() !== [STATEMENT, PREDICATE, 'files', 'sha256'].join())
        throw wrong('it is no list of files');
    checkRelease(trust, member(only(member(statement, 'subject')), 'annotations'));
    const resources = member(member(statement, 'predicate'), 'resources');
    if (!Array.isArray(resources))
        throw wrong('it has no files');
    return new Map(resources.map(digestOf));
}
function digestOf(file) {
    const name = member(file, 'name');
    const digest = member(file, 'digest');
    if (typeof name !== 'string' || typeof digest !== 'string' || member(file, 'algorithm') !== 'sha256') {
        throw wrong('a file has no sha256');
    }
    return [name, digest];
}
/** The signed payload (DSSE 1.0), once a key has vouched for it. */
async function payloadOf(trust, envelope) {
    const signatures = member(envelope, 'signatures');
    if (Array.isArray(signatures) && signatures.length === 0)
        throw unsigned(`${NAME} has no signature`);
    const payload = base64Bytes(member(envelope, 'payload'));
    const signature = base64Bytes(member(only(signatures), 'sig'));
    if (payload === null || signature === null)
        throw wrong('it is damaged');
    const type = member(envelope, 'payloadType');
    if (type !== PAYLOAD_TYPE)
        throw wrong(`its payload is ${String(type)}`);
    const start = asciiBytes(`DSSEv1 ${String(type.length)} ${type} ${String(payload.length)} `);
    const message = new Uint8Array(start.length + payload.length);
    message.set(start);
    message.set(payload, start.length);
    const numbers = signatureNumbers(signature);
    if (numbers === null || !(await isSignedByAny(trust, message, { der: signature, numbers }))) {
        throw wrong('no key that this app was built with has signed it: sign with the private key of [package] trust');
    }
    return utf8Text(payload) ?? '';
}
async function isSignedByAny({ keys, isSigned }, message, signature) {
    for (const key of keys) {
        const spki = base64Bytes(key);
        if (spki !== null && (await isSigned(spki, message, signature)))
            return true;
    }
    return false;
}
function checkRelease({ packageName, number }, annotations) {
    const found = member(annotations, 'mobpack.package');
    if (found !== packageName) {
        throw new ModelUntrustedError('swapped', `${NAME} is that of the package ${String(found)}, not of ${packageName}: use the files of one package`);
    }
    const release = member(annotations, 'mobpack.number');
    if (typeof release !== 'number' || !Number.isSafeInteger(release))
        throw wrong('it has no release number');
    if (release >= number)
        return;
    throw new ModelUntrustedError('rolled-back', `${NAME} is that of release ${String(member(annotations, 'mobpack.version'))}, which is older than this code: use ` +
        'the files that were released with it, or newer ones');
}
function parsed(text) {
    try {
        return JSON.parse(text);
    }
    catch (reason) {
        throw wrong('it is damaged', reason);
    }
}
/** A member of an object of JSON; undefined for anything else. */
function member(value, name) {
    if (typeof value !== 'object' || value === null)
        return undefined;
    return value[name];
}
function only(values) {
    return Array.isArray(values) && values.length === 1 ? values[0] : undefined;
}
function unsigned(reason) {
    const words = `the package is not signed: ${reason}. Run \`mobpack sign\` on the release before an app uses it`;
    return new ModelUntrustedError('unsigned', words);
}
function wrong(reason, cause) {
    return new ModelUntrustedError('wrong-signature', `${NAME} is not to be trusted: ${reason}`, { cause });
}
