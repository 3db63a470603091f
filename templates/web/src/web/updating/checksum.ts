// SHA-256 of bytes that come one after the other: browsers compute it only of what is in memory as a whole.

const BLOCK_BYTES = 64;
const ROUNDS = 64;

/** The first 32 bits of the fractional parts of roots of the first primes: FIPS 180-4, 4.2.2 and 5.3.3. */
function fractions(count: number, root: number): Int32Array {
  const found = new Int32Array(count);
  for (let number = 2, size = 0; size < count; number += 1) {
    if (!isPrime(number)) continue;
    found[size] = ((number ** (1 / root)) % 1) * 2 ** 32;
    size += 1;
  }
  return found;
}

function isPrime(number: number): boolean {
  for (let divisor = 2; divisor * divisor <= number; divisor += 1) if (number % divisor === 0) return false;
  return true;
}

const CONSTANTS = fractions(ROUNDS, 3);

/** The SHA-256 of what `add` was given. */
export class Checksum256 {
  private readonly state = fractions(8, 2);
  private readonly words = new Int32Array(ROUNDS);
  private readonly rest = new Uint8Array(BLOCK_BYTES);
  private restBytes = 0;
  private sizeBytes = 0;

  add(bytes: Uint8Array): void {
    this.sizeBytes += bytes.length;
    let start = 0;
    if (this.restBytes > 0) {
      start = Math.min(BLOCK_BYTES - this.restBytes, bytes.length);
      this.rest.set(bytes.subarray(0, start), this.restBytes);
      this.restBytes += start;
      if (this.restBytes < BLOCK_BYTES) return;
      this.mix(this.rest, 0);
      this.restBytes = 0;
    }
    for (; start + BLOCK_BYTES <= bytes.length; start += BLOCK_BYTES) this.mix(bytes, start);
    this.rest.set(bytes.subarray(start));
    this.restBytes = bytes.length - start;
  }

  /** In hexadecimal. Nothing may be added any more. */
  end(): string {
    const size = this.sizeBytes;
    const zeros = (2 * BLOCK_BYTES - 9 - (size % BLOCK_BYTES)) % BLOCK_BYTES;
    const padding = new Uint8Array(1 + zeros + 8);
    padding[0] = 0x80;
    new DataView(padding.buffer).setBigUint64(1 + zeros, BigInt(size) * 8n);
    this.add(padding);
    return Array.from(this.state, (word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
  }

  private mix(bytes: Uint8Array, start: number): void {
    const { state, words } = this;
    const at = (index: number): number => words[index] as number;
    for (let index = 0; index < 16; index += 1) {
      const byte = start + 4 * index;
      words[index] =
        ((bytes[byte] as number) << 24) |
        ((bytes[byte + 1] as number) << 16) |
        ((bytes[byte + 2] as number) << 8) |
        (bytes[byte + 3] as number);
    }
    for (let index = 16; index < ROUNDS; index += 1) {
      const [early, late] = [at(index - 15), at(index - 2)];
      const low = rotated(early, 7) ^ rotated(early, 18) ^ (early >>> 3);
      const high = rotated(late, 17) ^ rotated(late, 19) ^ (late >>> 10);
      words[index] = at(index - 16) + low + at(index - 7) + high;
    }
    let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
    for (let index = 0; index < ROUNDS; index += 1) {
      const high = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25);
      const one = (h + high + ((e & f) ^ (~e & g)) + (CONSTANTS[index] as number) + at(index)) | 0;
      const low = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22);
      const two = (low + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      h = g;
      g = f;
      f = e;
      e = (d + one) | 0;
      d = c;
      c = b;
      b = a;
      a = (one + two) | 0;
    }
    [a, b, c, d, e, f, g, h].forEach((word, index) => {
      state[index] = (state[index] as number) + word;
    });
  }
}

function rotated(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}
