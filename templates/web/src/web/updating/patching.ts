// Applies deltas, by docs/formats.md: everything that is not in its table is refused before it is used.

import { ModelError } from '../../runtime/errors.js';
import { addDifferences, placesOf } from './adding.js';
import { Checksum256 } from './checksum.js';
import { Inflated } from './inflating.js';

type Bytes = Uint8Array<ArrayBuffer>;

/** Bytes at any place, of a file that was checked. */
export interface Readable {
  readonly sizeBytes: number;
  read(offset: number, into: Uint8Array): Promise<void>;
}

/** Takes the bytes of a file one after the other. */
export interface Sink {
  write(bytes: Uint8Array): Promise<void>;
}

/** Result that is wanted: SHA-256 in hexadecimal. */
export interface Wanted {
  readonly source: string;
  readonly result: string;
  readonly resultBytes: number;
}

const MAGIC = 'MPDELTA';
const VERSION = 1;
const DIGEST_BYTES = 32;
const SPAN_BYTES = 1 << 20;
const MOST_CHANGED = 1 << 18;
const VARINT_BYTES = 9;
const WIDTHS: ReadonlySet<number> = new Set([1, 2, 4, 8]);

/**
 * Writes the result of a delta, in pieces; it is right once this has ended.
 *
 * @param source - its SHA-256 is checked here, before anything is written
 * @throws ModelError `corrupted`
 */
export async function applyDelta(delta: AsyncGenerator<Bytes, void>, source: Readable, wanted: Wanted, sink: Sink): Promise<void> {
  const bytes = new Leading(delta);
  refuseUnless((await bytes.text(MAGIC.length)) === MAGIC && (await bytes.byte()) === VERSION, 'it is of another format');
  refuseUnless((await bytes.hex(DIGEST_BYTES)) === wanted.source, 'it is for another file');
  refuseUnless((await bytes.hex(DIGEST_BYTES)) === wanted.result, 'it makes another file');
  refuseUnless((await varint(bytes)) === source.sizeBytes, 'its source has another size');
  refuseUnless((await varint(bytes)) === wanted.resultBytes, 'its result has another size');
  refuseUnless((await checksumOf(source)) === wanted.source, 'its source is damaged');
  const inflated = new Inflated(bytes.rest());
  try {
    await new Patcher(inflated, source, wanted, sink).run();
  } finally {
    inflated.close();
  }
}

/** Runs the instructions of a delta. */
class Patcher {
  private readonly delta: Inflated;
  private readonly source: Readable;
  private readonly wanted: Wanted;
  private readonly sink: Sink;
  private readonly checksum = new Checksum256();
  private cursor = 0;
  private written = 0;

  constructor(delta: Inflated, source: Readable, wanted: Wanted, sink: Sink) {
    this.delta = delta;
    this.source = source;
    this.wanted = wanted;
    this.sink = sink;
  }

  async run(): Promise<void> {
    while (await this.step());
    await this.delta.end();
    refuseUnless(this.written === this.wanted.resultBytes, 'its result is too short');
    refuseUnless(this.checksum.end() === this.wanted.result, 'its result has another sha256');
  }

  /** Whether there is another instruction. */
  private async step(): Promise<boolean> {
    const instruction = await this.delta.byte();
    if (instruction === 0) return false;
    if (instruction === 1) await this.copy();
    else if (instruction === 2) await this.insert();
    else if (instruction === 3) await this.add(false);
    else if (instruction === 4) await this.add(true);
    else throw refused(`there is no instruction ${String(instruction)}`);
    return true;
  }

  private async copy(): Promise<void> {
    const distance = await this.distance();
    const length = await varint(this.delta);
    this.move(distance, length);
    const buffer = new Uint8Array(Math.min(length, SPAN_BYTES));
    for (let left = length; left > 0;) {
      const some = buffer.subarray(0, Math.min(left, buffer.length));
      await this.source.read(this.cursor - left, some);
      await this.write(some);
      left -= some.length;
    }
  }

  private async insert(): Promise<void> {
    const length = await varint(this.delta);
    this.refuseLonger(length);
    for (let left = length; left > 0;) {
      const some = await this.delta.some(left);
      await this.write(some);
      left -= some.length;
    }
  }

  private async add(isSparse: boolean): Promise<void> {
    const width = await this.delta.byte();
    refuseUnless(WIDTHS.has(width), `values have ${String(width)} bytes`);
    const distance = await this.distance();
    const count = await varint(this.delta);
    refuseUnless(count * width <= SPAN_BYTES, 'a span of values is too long');
    this.move(distance, count * width);
    const places = isSparse ? await this.places(count) : null;
    const planes = new Uint8Array((places?.length ?? count) * width);
    await this.delta.fill(planes);
    const span = new Uint8Array(count * width);
    await this.source.read(this.cursor - span.length, span);
    addDifferences(span, width, planes, places);
    await this.write(span);
  }

  private async places(count: number): Promise<Uint32Array> {
    const changed = await varint(this.delta);
    refuseUnless(changed >= 1 && changed <= Math.min(count, MOST_CHANGED), `${String(changed)} values are changed`);
    const gapWidth = await this.delta.byte();
    refuseUnless(gapWidth >= 1 && gapWidth <= 3, `gaps have ${String(gapWidth)} bytes`);
    const gaps = new Uint8Array(changed * gapWidth);
    await this.delta.fill(gaps);
    const places = placesOf(gaps, gapWidth, count);
    if (places === null) throw refused('a changed value lies beyond its span');
    return places;
  }

  /** Moves the cursor behind a range of the source that is read. */
  private move(distance: number, length: number): void {
    const start = this.cursor + distance;
    refuseUnless(start >= 0 && start + length <= this.source.sizeBytes, 'a range is outside the source');
    this.refuseLonger(length);
    this.cursor = start + length;
  }

  private refuseLonger(length: number): void {
    refuseUnless(length >= 1 && this.written + length <= this.wanted.resultBytes, 'its result is too long, or nothing is added');
  }

  private async distance(): Promise<number> {
    const folded = await varint(this.delta);
    return folded % 2 === 0 ? folded / 2 : -(folded + 1) / 2;
  }

  private async write(bytes: Uint8Array): Promise<void> {
    this.checksum.add(bytes);
    this.written += bytes.length;
    await this.sink.write(bytes);
  }
}

/** The bytes ahead of a stream, and then the rest of it. */
class Leading {
  private readonly pieces: AsyncGenerator<Bytes, void>;
  private piece: Bytes = new Uint8Array(0);

  constructor(pieces: AsyncGenerator<Bytes, void>) {
    this.pieces = pieces;
  }

  async byte(): Promise<number> {
    while (this.piece.length === 0) {
      const { done, value } = await this.pieces.next();
      if (done === true) throw refused('it ends too early');
      this.piece = value;
    }
    const [first = 0] = this.piece;
    this.piece = this.piece.subarray(1);
    return first;
  }

  async text(length: number): Promise<string> {
    let found = '';
    while (found.length < length) found += String.fromCharCode(await this.byte());
    return found;
  }

  async hex(length: number): Promise<string> {
    let found = '';
    while (found.length < 2 * length) found += (await this.byte()).toString(16).padStart(2, '0');
    return found;
  }

  async *rest(): AsyncGenerator<Bytes, void> {
    if (this.piece.length > 0) yield this.piece;
    for (;;) {
      const { done, value } = await this.pieces.next();
      if (done === true) return;
      yield value;
    }
  }
}

/** Numbers that a double does not have are beyond every size that is allowed. */
async function varint(bytes: { byte(): Promise<number> }): Promise<number> {
  let value = 0;
  for (let index = 0; index < VARINT_BYTES; index += 1) {
    const byte = await bytes.byte();
    value += (byte & 0x7f) * 2 ** (7 * index);
    if (byte < 0x80) return value;
  }
  throw refused('a number has more than 63 bits');
}

async function checksumOf(source: Readable): Promise<string> {
  const checksum = new Checksum256();
  const buffer = new Uint8Array(Math.min(source.sizeBytes, SPAN_BYTES));
  for (let offset = 0; offset < source.sizeBytes;) {
    const some = buffer.subarray(0, Math.min(buffer.length, source.sizeBytes - offset));
    await source.read(offset, some);
    checksum.add(some);
    offset += some.length;
  }
  return checksum.end();
}

function refuseUnless(isRight: boolean, reason: string): void {
  if (!isRight) throw refused(reason);
}

function refused(reason: string): ModelError {
  return new ModelError('corrupted', `the delta is refused: ${reason}`);
}
