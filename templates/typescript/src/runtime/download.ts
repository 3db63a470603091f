// Downloads files: in pieces, so that what is there is not fetched again, and each file once, however many wait for it.

import type { Engine } from './backend.js';
import { Deadline, FILE_MS, FileChanged, Interruption, type Piece, requestPiece } from './downloadRequest.js';
import { ModelError, toModelError } from './errors.js';

/** A file to download, and where it is to be. */
export interface Download {
  readonly url: string;
  /** Absolute. Until all of it is there and was checked, the file is called `<path>.part`. */
  readonly path: string;
  readonly sizeBytes: number;
  /** In hexadecimal. */
  readonly sha256: string;
}

/** Where files are kept. */
export type Store = Pick<Engine, 'fileSize' | 'writePart' | 'finishPart' | 'removeFile'>;

/** Who waits for a download. */
export interface Watcher {
  readonly signal: AbortSignal | undefined;
  /** Called with the number of bytes that are there, those of earlier times included. */
  readonly onBytes: (loadedBytes: number) => void;
}

/** How fast to go, and when to give up. */
export interface Pace {
  /** Size of the pieces that are asked for: they start with the largest, and are halved where a network is bad. */
  readonly largestPieceBytes: number;
  readonly smallestPieceBytes: number;
  /** An answer that brings nothing for so long is given up. */
  readonly stallMs: number;
  /** For a file with all its pieces and attempts; bytes that come earn more. */
  readonly fileMs: number;
  /** Before the second request for a piece; twice as long before each further one. */
  readonly firstPauseMs: number;
  /** Requests for the same piece. */
  readonly attempts: number;
}

const PACE: Pace = {
  // React Native has Base64 read by JavaScript, a piece at once: four times as much would keep apps from drawing.
  largestPieceBytes: 1 << 20,
  smallestPieceBytes: 128 << 10,
  stallMs: 30_000,
  fileMs: FILE_MS,
  firstPauseMs: 500,
  attempts: 6,
};

/** By path. */
const underWay = new Map<string, SharedDownload>();

/** Paths of files that are being downloaded. */
export function pathsUnderWay(): readonly string[] {
  return [...underWay.keys()];
}

/**
 * Downloads a file unless it is there. Who asks for one that is on its way waits for that; when nobody waits any more, it
 * ends, and what has come is kept for the next time.
 *
 * @throws ModelError `network`, `corrupted`, `no-space`, `unreadable` or `cancelled`
 */
export async function download(wanted: Download, store: Store, watcher: Watcher, pace: Pace = PACE): Promise<void> {
  for (;;) {
    if (watcher.signal?.aborted === true) throw cancelled(wanted);
    const shared = underWay.get(wanted.path);
    if (shared?.isAbandoned === false) return shared.waitFor(watcher);
    if (shared === undefined) {
      if (store.fileSize(wanted.path) === wanted.sizeBytes) return;
      return new SharedDownload(wanted, store, pace).waitFor(watcher);
    }
    await shared.settled;
  }
}

function cancelled(wanted: Download): ModelError {
  return new ModelError('cancelled', `the download of ${wanted.url} was cancelled`);
}

/** One download and all who wait for it. */
class SharedDownload {
  /** Ends, well or not, when nothing more is written. */
  readonly settled: Promise<void>;
  private readonly wanted: Download;
  private readonly ended: Promise<void>;
  private readonly stop = new AbortController();
  private readonly watchers = new Set<Watcher>();
  private loadedBytes = 0;

  constructor(wanted: Download, store: Store, pace: Pace) {
    this.wanted = wanted;
    const file = new PartialFile(wanted, store, pace, this.stop.signal, (loadedBytes) => {
      this.tell(loadedBytes);
    });
    underWay.set(wanted.path, this);
    this.ended = file.complete().finally(() => {
      underWay.delete(wanted.path);
    });
    this.settled = this.ended.catch(() => undefined);
  }

  get isAbandoned(): boolean {
    return this.stop.signal.aborted;
  }

  async waitFor(watcher: Watcher): Promise<void> {
    this.watchers.add(watcher);
    watcher.onBytes(this.loadedBytes);
    let leave = (): void => undefined;
    const left = new Promise<never>((_, reject) => {
      leave = () => {
        reject(cancelled(this.wanted));
      };
      watcher.signal?.addEventListener('abort', leave);
    });
    try {
      await Promise.race([this.ended, left]);
    } finally {
      watcher.signal?.removeEventListener('abort', leave);
      this.watchers.delete(watcher);
      if (this.watchers.size === 0) this.stop.abort();
    }
  }

  private tell(loadedBytes: number): void {
    this.loadedBytes = loadedBytes;
    for (const watcher of this.watchers) watcher.onBytes(loadedBytes);
  }
}

/** The part of a file that has arrived, and the way to the rest. */
class PartialFile {
  private readonly part: string;
  private readonly wanted: Download;
  private readonly store: Store;
  private readonly pace: Pace;
  private readonly signal: AbortSignal;
  private readonly onBytes: (loadedBytes: number) => void;
  private offset = 0;
  private pieceBytes: number;
  private failures = 0;
  private deadline: Deadline;
  /** ETag of what has come since the download was started; what came earlier has none. */
  private tag = '';
  /** Whether all that is there is of one file, as far as anybody knows. */
  private isOfOne = true;
  private hasRestarted = false;

  constructor(
    wanted: Download,
    store: Store,
    pace: Pace,
    signal: AbortSignal,
    onBytes: (loadedBytes: number) => void,
  ) {
    this.part = `${wanted.path}.part`;
    this.wanted = wanted;
    this.store = store;
    this.pace = pace;
    this.signal = signal;
    this.onBytes = onBytes;
    this.pieceBytes = pace.largestPieceBytes;
    this.deadline = new Deadline(pace.fileMs, 0);
  }

  async complete(): Promise<void> {
    const { sizeBytes, path, sha256 } = this.wanted;
    this.resume();
    for (;;) {
      while (this.offset < sizeBytes) await this.fetchNext();
      try {
        await this.store.finishPart(this.part, path, sizeBytes, sha256);
        return;
      } catch (reason) {
        const error = toModelError(reason);
        // The first bytes may be of an older file on the server, or the device lost some: once more, from the start.
        if (error.code !== 'corrupted' || this.isOfOne) throw error;
        this.restart(error);
      }
    }
  }

  private resume(): void {
    const found = this.store.fileSize(this.part);
    this.offset = found > 0 && found <= this.wanted.sizeBytes ? found : 0;
    this.isOfOne = this.offset === 0;
    this.deadline = new Deadline(this.pace.fileMs, this.offset);
    this.onBytes(this.offset);
  }

  private async fetchNext(): Promise<void> {
    try {
      await this.append(await this.request());
      this.failures = 0;
      this.pieceBytes = Math.min(this.pieceBytes * 2, this.pace.largestPieceBytes);
    } catch (reason) {
      if (reason instanceof FileChanged) this.restart(new ModelError('corrupted', reason.message));
      else if (reason instanceof Interruption) await this.pause(reason);
      else throw toModelError(reason);
    }
  }

  private request(): Promise<Piece> {
    const { offset, tag, signal, pace, deadline } = this;
    const { url, sizeBytes } = this.wanted;
    const length = Math.min(this.pieceBytes, sizeBytes - offset);
    const onBytes = (received: number): void => {
      this.onBytes(offset + Math.min(received, length));
    };
    return requestPiece({ url, offset, length, sizeBytes, tag }, { signal, stallMs: pace.stallMs, deadline, onBytes });
  }

  private async append(piece: Piece): Promise<void> {
    if (piece.offset === 0) this.isOfOne = true;
    await this.store.writePart(this.part, piece.offset, piece.bytes);
    this.offset = piece.offset + piece.bytes.byteLength;
    this.tag = piece.tag;
    this.onBytes(this.offset);
  }

  /** Once: a file that changes time and again is not the one that is wanted. */
  private restart(reason: ModelError): void {
    if (this.hasRestarted || (this.offset === 0 && this.isOfOne)) throw reason;
    this.hasRestarted = true;
    this.isOfOne = true;
    this.offset = 0;
    this.tag = '';
    this.deadline = new Deadline(this.pace.fileMs, 0);
    this.onBytes(0);
  }

  /** Longer each time, with smaller pieces after it: of a piece that is cut off nothing is kept. */
  private async pause(reason: Interruption): Promise<void> {
    this.deadline.check(this.wanted.url);
    this.failures += 1;
    if (this.failures >= this.pace.attempts) throw new ModelError('network', reason.message, { cause: reason });
    this.pieceBytes = Math.max(Math.floor(this.pieceBytes / 2), this.pace.smallestPieceBytes);
    this.onBytes(this.offset);
    await this.sleep(this.pace.firstPauseMs * 2 ** (this.failures - 1));
  }

  private sleep(ms: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const cancel = (): void => {
        clearTimeout(timer);
        reject(cancelled(this.wanted));
      };
      const timer = setTimeout(() => {
        this.signal.removeEventListener('abort', cancel);
        resolve();
      }, ms);
      this.signal.addEventListener('abort', cancel);
      if (this.signal.aborted) cancel();
    });
  }
}
