// Makes a self-signed certificate for 127.0.0.1: `node certificate.mjs KEY.pem CERTIFICATE.pem`.
import { generateKeyPairSync, sign } from 'node:crypto';
import { writeFileSync } from 'node:fs';

const SEQUENCE = 0x30;
const SET = 0x31;
const INTEGER = 0x02;
const BITS = 0x03;
const BYTES = 0x04;
const OBJECT = 0x06;
const TEXT = 0x0c;
const TIME = 0x17;
const ECDSA_WITH_SHA256 = [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02];
const COMMON_NAME = [0x55, 0x04, 0x03];
const ALTERNATIVE_NAMES = [0x55, 0x1d, 0x11];
const IP_ADDRESS = 0x87;
const EXTENSIONS = 0xa3;
const VERSION = 0xa0;

/** A value in DER: its tag, its length, and what is in it (ITU-T X.690). */
function der(tag, ...parts) {
  const content = Buffer.concat(parts.map((part) => Buffer.from(part)));
  const long = content.length < 256 ? [0x81] : [0x82, content.length >> 8];
  const length = content.length < 128 ? [content.length] : [...long, content.length & 255];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
}

const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const algorithm = der(SEQUENCE, der(OBJECT, ECDSA_WITH_SHA256));
const name = der(SEQUENCE, der(SET, der(SEQUENCE, der(OBJECT, COMMON_NAME), der(TEXT, Buffer.from('localhost')))));
const validity = der(SEQUENCE, der(TIME, Buffer.from('200101000000Z')), der(TIME, Buffer.from('491231235959Z')));
const addresses = der(SEQUENCE, der(IP_ADDRESS, [127, 0, 0, 1]));
const extension = der(SEQUENCE, der(OBJECT, ALTERNATIVE_NAMES), der(BYTES, addresses));
const body = der(
  SEQUENCE,
  der(VERSION, der(INTEGER, [2])),
  der(INTEGER, [1]),
  algorithm,
  name,
  validity,
  name,
  publicKey.export({ type: 'spki', format: 'der' }),
  der(EXTENSIONS, der(SEQUENCE, extension)),
);
const certificate = der(SEQUENCE, body, algorithm, der(BITS, [0], sign('sha256', body, privateKey)));
const lines = certificate.toString('base64').match(/.{1,64}/g);

const [keyFile, certificateFile] = process.argv.slice(2);
writeFileSync(keyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }));
writeFileSync(certificateFile, `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`);
