// Reads metadata of The Update Framework (TUF 1.0), once enough keys have signed it.
import { ModelUntrustedError } from '../trust.js';
import { base64Bytes, base64Text, hexBytes, signatureNumbers, utf8Bytes } from '../trustBytes.js';
import { distinct, Fields, FormError } from './fields.js';
const TOP = new Set(['root', 'timestamp', 'snapshot', 'targets']);
const MOST_DEPTH = 64;
/** How the key of an uncompressed point on P-256 begins. */
const P256 = 'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE';
const PEM = /^-----BEGIN PUBLIC KEY-----\s([A-Za-z0-9+/=\s]+)-----END PUBLIC KEY-----\s*$/;
/**
 * The metadata of the role `name`, that `delegators` have vouched for; root metadata vouches for itself, too.
 *
 * @throws ModelUntrustedError `wrong-signature`, or `swapped` for metadata of another package or channel
 */
export async function verified(text, name, delegators, delivery) {
    const claimed = understood(name, () => read(text, name));
    for (const each of name === 'root' ? [...delegators, claimed] : delegators)
        await refuseUnsigned(claimed, each, delivery);
    const { packageName, channel } = delivery;
    const { owner } = claimed;
    if (owner === '' || owner === ownerOf(packageName, channel))
        return claimed;
    throw new ModelUntrustedError('swapped', `the ${name} is that of ${owner}, not of ${ownerOf(packageName, channel)}: give the updater the address of this package's channel`);
}
/** Words for metadata that is not believed. */
export function wrong(name, reason, cause) {
    return new ModelUntrustedError('wrong-signature', `${name} of the channel is not to be trusted: ${reason}`, { cause });
}
async function refuseUnsigned(claimed, delegator, { trust }) {
    const { name, version, payload, signatures } = claimed;
    const role = delegator.roles.get(name);
    if (role === undefined)
        throw wrong(name, `${delegator.name} has no such role`);
    const signers = new Set();
    for (const id of role.keyids) {
        const key = delegator.keys.get(id) ?? '';
        const der = signatures.get(id) ?? null;
        const numbers = der === null ? null : signatureNumbers(der);
        const spki = base64Bytes(key);
        if (key === '' || spki === null || der === null || numbers === null || signers.has(key))
            continue;
        if (await trust.isSigned(spki, payload, { der, numbers }))
            signers.add(key);
    }
    if (signers.size >= role.threshold)
        return;
    const words = `${String(signers.size)} of the keys that ${delegator.name} ${String(delegator.version)} names have signed it`;
    throw wrong(`${name} ${String(version)}`, `${words}, and ${String(role.threshold)} must`);
}
/** Gives the result of `read`; its error says that the metadata is not believed. */
export function understood(name, read) {
    try {
        return read();
    }
    catch (reason) {
        throw wrong(name, reason instanceof Error ? reason.message : String(reason), reason);
    }
}
/** @throws FormError; SyntaxError for what is no JSON, RangeError or URIError for what no engine can take */
function read(text, name) {
    const parsed = JSON.parse(text);
    const envelope = new Fields(parsed, name);
    const signed = envelope.object('signed');
    const kind = TOP.has(name) ? name : 'targets';
    if (signed.text('_type') !== kind)
        throw new FormError(`it is no ${kind}, but ${signed.text('_type')}`);
    if (!/^1\.\d/.test(signed.text('spec_version')))
        throw new FormError(`it follows version ${signed.text('spec_version')} of TUF, not 1`);
    const signatures = envelope.list('signatures', (each) => [each.text('keyid'), hexBytes(each.text('sig'))]);
    const delegations = kind === 'root' ? signed : kind === 'targets' ? signed.optional('delegations', (each) => each) : null;
    const targets = kind === 'targets' ? signed.object('targets') : null;
    const about = signed.optional('mobpack', (each) => each);
    return {
        name,
        text,
        version: signed.counted('version'),
        expires: signed.time('expires'),
        published: about?.time('published') ?? 0,
        keys: delegations?.map('keys', (keys, id) => keyOf(keys.object(id))) ?? new Map(),
        roles: rolesOf(kind, delegations),
        meta: kind === 'snapshot' || kind === 'timestamp' ? signed.map('meta', (files, file) => fileOf(files.object(file))) : new Map(),
        target: (path) => targets?.optional(path, targetOf) ?? null,
        payload: utf8Bytes(canonical(parsed.signed)),
        signatures: new Map(distinct(signatures, ([id]) => id, 'signature')),
        owner: about === null ? '' : ownerOf(about.text('package'), about.text('channel')),
    };
}
function rolesOf(kind, delegations) {
    if (delegations === null)
        return new Map();
    if (kind === 'root')
        return delegations.map('roles', (roles, name) => roleOf(roles.object(name), name));
    const found = delegations.list('roles', (each) => {
        const name = each.text('name');
        // These are names of other files.
        if (TOP.has(name) || /^(\d+\.root)?$/.test(name))
            throw new FormError(`a role is called '${name}'`);
        return roleOf(each, name);
    });
    return new Map(distinct(found, ({ name }) => name, 'role').map((role) => [role.name, role]));
}
function roleOf(fields, name) {
    return {
        name,
        keyids: distinct(fields.texts('keyids'), (id) => id, 'key'),
        threshold: fields.counted('threshold'),
        isTerminating: fields.has('terminating') && fields.flag('terminating'),
        paths: fields.has('paths') ? fields.texts('paths') : [],
        prefixes: fields.has('path_hash_prefixes') ? fields.texts('path_hash_prefixes') : [],
    };
}
function keyOf(fields) {
    if (fields.text('keytype') !== 'ecdsa' || fields.text('scheme') !== 'ecdsa-sha2-nistp256')
        return '';
    const [, body = ''] = PEM.exec(fields.object('keyval').text('public')) ?? [];
    const text = body.replace(/\s/g, '');
    const spki = text.startsWith(P256) ? base64Bytes(text) : null;
    return spki === null ? '' : base64Text(spki);
}
function fileOf(fields) {
    return {
        version: fields.counted('version'),
        sizeBytes: fields.has('length') ? fields.whole('length') : null,
        sha256: fields.optional('hashes', (hashes) => hashes.sha256('sha256')),
    };
}
function targetOf(fields) {
    return { sizeBytes: fields.whole('length'), sha256: fields.object('hashes').sha256('sha256') };
}
function ownerOf(packageName, channel) {
    return `the channel ${channel} of ${packageName}`;
}
/** Canonical JSON, as OLPC has described it: what is signed. */
export function canonical(value, depth = 0) {
    if (depth > MOST_DEPTH)
        throw new FormError('it is too deep');
    if (typeof value === 'string')
        return `"${value.replace(/["\\]/g, '\\$&')}"`;
    if (value === null || typeof value === 'boolean' || Number.isSafeInteger(value))
        return String(value);
    if (typeof value !== 'object')
        throw new FormError('it has a number that is not whole');
    if (Array.isArray(value))
        return `[${value.map((each) => canonical(each, depth + 1)).join()}]`;
    const members = Object.entries(value).sort(([one], [other]) => order(one, other));
    return `{${members.map(([key, each]) => `${canonical(key)}:${canonical(each, depth + 1)}`).join()}}`;
}
/** By code points: halves of pairs are not in their order. */
function order(one, other) {
    let at = 0;
    while (at < one.length && one[at] === other[at])
        at += 1;
    return (one.codePointAt(at) ?? -1) - (other.codePointAt(at) ?? -1);
}
