// Base64, and signatures in DER: each has one form here, where other readers take several.

export type Bytes = Uint8Array<ArrayBuffer>;

/** A signature on P-256: as it was written, and its r and s alone, 32 bytes each. */
export interface Signature {
  readonly der: Bytes;
  readonly numbers: Bytes;
}

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const NUMBER_BYTES = 32;
const DER_SEQUENCE = 0x30;
const DER_INTEGER = 2;
const SIGN = 0x80;

/** The bytes of Base64 with padding (RFC 4648, 4); null for a text that is not Base64. */
export function base64Bytes(text: unknown): Bytes | null {
  if (typeof text !== 'string' || !/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.length % 4 !== 0) return null;
  const digits = text.replace(/=+$/, '');
  const bytes = new Uint8Array(Math.floor((digits.length * 6) / 8));
  let bits = 0;
  let count = 0;
  let size = 0;
  for (const digit of digits) {
    bits = ((bits << 6) | DIGITS.indexOf(digit)) & 0xffff;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes[size] = (bits >> count) & 0xff;
    size += 1;
  }
  return bytes;
}

/** Base64, with padding, of bytes. */
export function base64Text(bytes: Bytes): string {
  let text = '';
  for (let start = 0; start < bytes.length; start += 3) {
    const [first = 0, second = 0, third = 0] = bytes.subarray(start, start + 3);
    const group = (first << 16) | (second << 8) | third;
    const count = Math.min(bytes.length - start, 3) + 1;
    for (let digit = 0; digit < 4; digit += 1) {
      text += digit < count ? DIGITS.charAt((group >> (18 - 6 * digit)) & 63) : '=';
    }
  }
  return text;
}

export function asciiBytes(text: string): Bytes {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

/** The bytes of digits in hexadecimal; null for a text that is none. */
export function hexBytes(text: string): Bytes | null {
  if (!/^([0-9a-f]{2})*$/i.test(text)) return null;
  return Uint8Array.from(text.match(/../g) ?? [], (each) => Number.parseInt(each, 16));
}

/** A text in UTF-8. Not every engine has a TextEncoder, which is the faster way. */
export function utf8Bytes(text: string): Bytes {
  if ('TextEncoder' in globalThis) return new TextEncoder().encode(text);
  const escaped = encodeURIComponent(text).match(/%..|[^%]/g) ?? [];
  return Uint8Array.from(escaped, (each) => (each.length > 1 ? Number.parseInt(each.slice(1), 16) : each.charCodeAt(0)));
}

/** The text that bytes are in UTF-8; null where they are none. Not every engine has a TextDecoder, which is the faster way. */
export function utf8Text(bytes: Bytes): string | null {
  try {
    if ('TextDecoder' in globalThis) return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return decodeURIComponent(Array.from(bytes, (byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''));
  } catch {
    return null;
  }
}

/** r and s of a signature on P-256, 32 bytes each, of the one form that X.690's DER has for them; null for any other. */
export function signatureNumbers(der: Bytes): Bytes | null {
  if (der[0] !== DER_SEQUENCE || der[1] !== der.length - 2) return null;
  const numbers = new Uint8Array(2 * NUMBER_BYTES);
  let start = 2;
  for (const end of [NUMBER_BYTES, 2 * NUMBER_BYTES]) {
    const length = der[start + 1] ?? 0;
    const number = positive(der.subarray(start + 2, start + 2 + length));
    if (der[start] !== DER_INTEGER || start + 2 + length > der.length || number === null) return null;
    numbers.set(number, end - number.length);
    start += 2 + length;
  }
  return start === der.length ? numbers : null;
}

/** The digits of a positive number, without the zero that keeps it from being read as a negative one. */
function positive(number: Bytes): Bytes | null {
  const [first, second = 0] = number;
  if (first === undefined || first >= SIGN) return null;
  if (first === 0 && second < SIGN) return null;
  const digits = first === 0 ? number.subarray(1) : number;
  return digits.length <= NUMBER_BYTES ? digits : null;
}
