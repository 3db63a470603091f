// Whether a document of a channel is to be believed: who signed it, and whom it is for.
import { ModelUntrustedError } from '../trust.js';
import { asciiBytes, base64Bytes, signatureNumbers, utf8Text } from '../trustBytes.js';
import { readDocument } from './document.js';
import { Fields } from './fields.js';
const PAYLOAD_TYPE = 'application/vnd.mobpack.channel+json';
/**
 * Verifies a Sigstore bundle with a document.
 *
 * @throws ModelUntrustedError `wrong-signature`, or `swapped` for a document of another package or channel
 */
export async function verify(text, delivery, sha256) {
    const payload = await payloadOf(text, delivery);
    const document = understood(() => readDocument(textOf(payload)));
    const { packageName, channel } = delivery;
    if (document.packageName !== packageName || document.channel !== channel) {
        throw new ModelUntrustedError('swapped', `the document is that of the channel ${document.channel} of ${document.packageName}, not of ${channel} of ` +
            `${packageName}: give the updater the address of this package's channel`);
    }
    return { document, sha256: await sha256(payload) };
}
/** The signed payload (DSSE 1.0), once a key has vouched for it. */
async function payloadOf(text, delivery) {
    const envelope = understood(() => new Fields(JSON.parse(text), 'the bundle').object('dsseEnvelope'));
    const type = understood(() => envelope.text('payloadType'));
    if (type !== PAYLOAD_TYPE)
        throw wrong(`it is no document of a channel, but ${type}`);
    const signatures = understood(() => envelope.list('signatures', (each) => base64Bytes(each.text('sig'))));
    const [der = null] = signatures;
    const payload = base64Bytes(understood(() => envelope.text('payload')));
    if (signatures.length !== 1)
        throw wrong(`it has ${String(signatures.length)} signatures in place of one`);
    if (der === null || payload === null)
        throw wrong('it is damaged');
    const start = asciiBytes(`DSSEv1 ${String(type.length)} ${type} ${String(payload.length)} `);
    const message = new Uint8Array(start.length + payload.length);
    message.set(start);
    message.set(payload, start.length);
    const numbers = signatureNumbers(der);
    const { keys, isSigned } = delivery.trust;
    for (const key of numbers === null ? [] : keys) {
        const spki = base64Bytes(key);
        if (spki !== null && numbers !== null && (await isSigned(spki, message, { der, numbers })))
            return payload;
    }
    throw wrong('no key that this app was built with has signed it: publish with the private key of [package] trust');
}
/** The text that bytes are in UTF-8. Not every engine has a TextDecoder, which is the faster way. */
export function textOf(bytes) {
    if (!('TextDecoder' in globalThis))
        return utf8Text(bytes) ?? '';
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
}
function understood(read) {
    try {
        return read();
    }
    catch (reason) {
        throw wrong(reason instanceof Error ? reason.message : String(reason), reason);
    }
}
function wrong(reason, cause) {
    return new ModelUntrustedError('wrong-signature', `the channel's document is not to be trusted: ${reason}`, { cause });
}
