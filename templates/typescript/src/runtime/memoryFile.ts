// A file that comes to memory: what the browser has kept of it is read, and the rest is asked for, from where it was cut off.

import type { KeptFiles } from './backend.js';
import { Deadline, FILE_MS, FileChanged, Interruption } from './downloadRequest.js';
import { ModelError } from './errors.js';
import { requestBytes, type Gap, type MemoryDownload } from './memoryRequest.js';

/** Who waits for it. */
export interface MemoryWatcher {
  readonly signal: AbortSignal | undefined;
  readonly onBytes: (loadedBytes: number) => void;
}

/** When to give up, and how much is lost where a page is left. */
export interface MemoryPace {
  /** Pieces are kept when all of them is there. */
  readonly pieceBytes: number;
  /** An answer that brings nothing for so long is given up. */
  readonly stallMs: number;
  /** For all of it, with all attempts; bytes that come earn more. */
  readonly fileMs: number;
  /** Before the second request; twice as long before each further one that brings nothing. */
  readonly firstPauseMs: number;
  /** Requests, one after the other, that bring nothing. */
  readonly attempts: number;
}

const PACE: MemoryPace = { pieceBytes: 2 << 20, stallMs: 30_000, fileMs: FILE_MS, firstPauseMs: 500, attempts: 6 };

/** A file of a known size, in one buffer. */
export class MemoryFile {
  bytes: Uint8Array<ArrayBuffer>;
  private readonly wanted: MemoryDownload;
  private readonly watcher: MemoryWatcher;
  private readonly kept: KeptFiles | null;
  private readonly pace: MemoryPace;
  /** By piece, how many of its bytes are there: its first ones. */
  private readonly counts: number[];
  /** Settled when all pieces that have come are kept. */
  private keeping: Promise<void> = Promise.resolve();
  /** Where the next bytes of an answer belong. */
  private position = 0;
  private tag = '';
  /** Whether all that is there is of one file, as far as anybody knows. */
  private isOfOne = true;
  private hasReceived = false;
  private hasRestarted = false;
  private isMended = false;
  private failures = 0;
  private deadline: Deadline;

  constructor(wanted: MemoryDownload, watcher: MemoryWatcher, kept: KeptFiles | null, pace: MemoryPace = PACE) {
    this.bytes = new Uint8Array(wanted.sizeBytes);
    this.wanted = wanted;
    this.watcher = watcher;
    this.kept = kept;
    this.pace = pace;
    this.deadline = new Deadline(pace.fileMs, 0);
    this.counts = new Array<number>(Math.ceil(wanted.sizeBytes / pace.pieceBytes)).fill(0);
  }

  /**
   * Gets all that is missing.
   *
   * @throws ModelError `network`, `missing`, `corrupted` or `cancelled`
   */
  async fill(): Promise<void> {
    await this.readKept();
    await this.fetchMissing();
  }

  /**
   * Gets a file again whose bytes are not the right ones: pieces that the browser has damaged, else all of it, once.
   *
   * @throws ModelError as `fill`; `wrong` where the server has just sent all of it
   */
  async mend(wrong: ModelError): Promise<void> {
    if (this.kept !== null && !this.isMended && (await this.kept.removeDamaged(this.wanted.sha256))) {
      this.isMended = true;
      this.counts.fill(0);
      await this.fill();
      return;
    }
    try {
      if (this.isOfOne) throw wrong;
      this.restart(wrong);
    } finally {
      await this.kept?.remove(this.wanted.sha256);
    }
    await this.fetchMissing();
  }

  private async readKept(): Promise<void> {
    const { kept, counts, wanted } = this;
    if (kept === null) return;
    for (const index of counts.keys()) {
      const [start, end] = this.piece(index);
      const tag = await kept.read(wanted.sha256, start, this.bytes.subarray(start, end));
      if (tag === undefined) continue;
      counts[index] = end - start;
      this.tag = tag;
      this.isOfOne = false;
      this.tell();
    }
  }

  private async fetchMissing(): Promise<void> {
    this.deadline = new Deadline(this.pace.fileMs, this.loadedBytes());
    try {
      for (let gap = this.gap(); gap !== null; gap = this.gap()) await this.fetch(gap);
    } finally {
      await this.keeping;
    }
  }

  /** The first bytes that are missing, up to the next piece of which some are there. */
  private gap(): Gap | null {
    const { counts, tag, hasRestarted: isFresh } = this;
    const first = counts.findIndex((count, index) => count < this.lengthOf(index));
    if (first < 0) return null;
    const found = counts.findIndex((count, index) => index > first && count > 0);
    const [start] = this.piece(first);
    const end = found < 0 ? this.bytes.length : this.piece(found)[0];
    return { start: start + (counts[first] ?? 0), end, tag, isFresh };
  }

  private async fetch(gap: Gap): Promise<void> {
    const { signal } = this.watcher;
    const { deadline } = this;
    const before = this.loadedBytes();
    let limit = gap.end;
    const begin = (isWhole: boolean, tag: string): void => {
      if (isWhole) {
        this.forget();
        limit = this.bytes.length;
      } else if (tag === '') this.isOfOne = false;
      this.position = isWhole ? 0 : gap.start;
      this.tag = tag;
    };
    const take = (bytes: Uint8Array): void => {
      this.take(bytes, limit);
    };
    try {
      await requestBytes(this.wanted, gap, { signal, stallMs: this.pace.stallMs, deadline, begin, take });
      if (this.position < limit) this.refuseEnd(gap);
      this.failures = 0;
    } catch (reason) {
      if (reason instanceof FileChanged) this.restart(new ModelError('corrupted', reason.message));
      else if (reason instanceof Interruption) await this.pause(reason, this.loadedBytes() > before);
      else throw reason;
    }
  }

  private take(bytes: Uint8Array, limit: number): void {
    if (this.position + bytes.length > limit) throw wrongSize(this.wanted, `more than ${String(limit)}`);
    this.bytes.set(bytes, this.position);
    this.hasReceived = true;
    const end = this.position + bytes.length;
    while (this.position < end) {
      const index = Math.floor(this.position / this.pace.pieceBytes);
      const [start, pieceEnd] = this.piece(index);
      this.position = Math.min(end, pieceEnd);
      this.counts[index] = this.position - start;
      if (this.position === pieceEnd) this.keep(start, pieceEnd);
    }
    this.deadline.reached(this.loadedBytes());
    this.tell();
  }

  private keep(start: number, end: number): void {
    const { kept, tag } = this;
    if (kept === null) return;
    const { sha256 } = this.wanted;
    this.keeping = this.keeping.then(() => kept.write(sha256, start, this.bytes.subarray(start, end), tag));
  }

  /** An answer has ended in order, but too soon. */
  private refuseEnd(gap: Gap): never {
    if (gap.start > 0) throw new Interruption(`${this.wanted.url} sent less than it was asked for`);
    throw wrongSize(this.wanted, String(this.position));
  }

  /** Once: a file that changes time and again is not the one that is wanted. */
  private restart(reason: ModelError): void {
    if (this.hasRestarted) throw reason;
    this.hasRestarted = true;
    this.tag = '';
    this.forget();
    this.deadline = new Deadline(this.pace.fileMs, 0);
  }

  private forget(): void {
    this.isOfOne = true;
    this.counts.fill(0);
    this.tell();
  }

  /** Where nothing has come at all, asking again is no use: the page is offline, or may not ask. */
  private async pause(reason: Interruption, hasGrown: boolean): Promise<void> {
    this.deadline.check(this.wanted.url);
    this.failures = hasGrown ? 1 : this.failures + 1;
    if (!this.hasReceived || this.failures >= this.pace.attempts) {
      throw new ModelError('network', reason.message, { cause: reason });
    }
    await this.sleep(this.pace.firstPauseMs * 2 ** (this.failures - 1));
  }

  private sleep(ms: number): Promise<void> {
    const { signal } = this.watcher;
    return new Promise((resolve, reject) => {
      const cancel = (): void => {
        clearTimeout(timer);
        reject(new ModelError('cancelled', `the download of ${this.wanted.url} was cancelled`));
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', cancel);
        resolve();
      }, ms);
      signal?.addEventListener('abort', cancel, { once: true });
      if (signal?.aborted === true) cancel();
    });
  }

  private piece(index: number): readonly [start: number, end: number] {
    const start = index * this.pace.pieceBytes;
    return [start, Math.min(start + this.pace.pieceBytes, this.bytes.length)];
  }

  private lengthOf(index: number): number {
    const [start, end] = this.piece(index);
    return end - start;
  }

  private loadedBytes(): number {
    return this.counts.reduce((sum, count) => sum + count, 0);
  }

  private tell(): void {
    this.watcher.onBytes(this.loadedBytes());
  }
}

function wrongSize({ url, sizeBytes }: MemoryDownload, found: string): ModelError {
  return new ModelError('corrupted', `${url} has ${found} bytes, the package was built with one of ${String(sizeBytes)}`);
}
