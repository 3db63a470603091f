// A raw deflate stream, read in the portions that its reader wants.

import { ModelError } from '../../runtime/errors.js';

type Bytes = Uint8Array<ArrayBuffer>;

/** Reads what a stream of deflate holds. */
export class Inflated {
  private readonly reader: ReadableStreamDefaultReader<Uint8Array>;
  private chunk: Uint8Array = new Uint8Array(0);

  /** `compressed` is read as far as its content is wanted. */
  constructor(compressed: AsyncGenerator<Bytes, void>) {
    const stream = new ReadableStream<Bytes>({
      pull: async (controller) => {
        const { done, value } = await compressed.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
    });
    this.reader = stream.pipeThrough(new DecompressionStream('deflate-raw')).getReader();
  }

  async byte(): Promise<number> {
    if (this.chunk.length === 0 && !(await this.next())) throw early();
    const [first = 0] = this.chunk;
    this.chunk = this.chunk.subarray(1);
    return first;
  }

  /** Fills `into`. */
  async fill(into: Uint8Array): Promise<void> {
    for (let size = 0; size < into.length;) {
      const some = await this.some(into.length - size);
      into.set(some, size);
      size += some.length;
    }
  }

  /** One byte at least, and `most` at most. */
  async some(most: number): Promise<Uint8Array> {
    if (this.chunk.length === 0 && !(await this.next())) throw early();
    const found = this.chunk.subarray(0, most);
    this.chunk = this.chunk.subarray(found.length);
    return found;
  }

  /** @throws ModelError `corrupted` unless the content ends here */
  async end(): Promise<void> {
    if (this.chunk.length > 0 || (await this.next())) throw new ModelError('corrupted', 'the delta goes on behind its end');
  }

  /** Frees what is left. */
  close(): void {
    void this.reader.cancel().catch(() => undefined);
  }

  private async next(): Promise<boolean> {
    try {
      for (;;) {
        const { done, value } = await this.reader.read();
        if (done) return false;
        this.chunk = value;
        if (value.length > 0) return true;
      }
    } catch (reason) {
      if (reason instanceof ModelError) throw reason;
      throw new ModelError('corrupted', `the delta cannot be unpacked: ${String(reason)}`, { cause: reason });
    }
  }
}

function early(): ModelError {
  return new ModelError('corrupted', 'the delta ends too early');
}
