// Gets the files of a release: from what is there, by deltas, or whole.

import type { PackagedFile } from '../descriptor.js';
import { ModelError, toModelError } from '../errors.js';
import type { ChannelBlob, ChannelDelta } from './listed.js';
import type { Blob, BlobWatcher, UpdatePlatform } from './platform.js';

/** Where files come from, and who is told. */
export interface Gathering {
  readonly platform: UpdatePlatform;
  /** Address of the folder of the model's files, with a / at its end. */
  readonly address: string;
  /** The package's own files, by their SHA-256. */
  readonly packaged: ReadonlyMap<string, PackagedFile>;
  readonly signal: AbortSignal | undefined;
  readonly tell: (phase: 'downloading' | 'patching', loadedBytes: number, totalBytes: number) => void;
}

/** A file that is not there yet, and how it is got. */
interface Missing {
  readonly blob: ChannelBlob;
  readonly delta: ChannelDelta | null;
}

/** Files that have to be fetched. */
export class Shopping {
  readonly missing: readonly Missing[];
  private readonly gathering: Gathering;
  private readonly loaded = new Map<string, number>();

  constructor(gathering: Gathering, missing: readonly Missing[]) {
    this.gathering = gathering;
    this.missing = missing;
  }

  /** Size of the files that are not there yet. */
  get newBytes(): number {
    return sum(this.missing.map(({ blob }) => blob.sizeBytes));
  }

  /** Bytes that are downloaded if all deltas can be applied. */
  get downloadBytes(): number {
    return sum(this.missing.map(({ blob, delta }) => (delta ?? blob).sizeBytes));
  }

  /** @throws ModelError */
  async get(): Promise<void> {
    const { platform, packaged } = this.gathering;
    for (const { blob, delta } of this.missing) {
      const own = packaged.get(blob.sha256);
      if (own !== undefined && (await this.succeeds(() => platform.adopt(own)))) continue;
      if (delta !== null && (await this.succeeds(() => this.patch(blob, delta)))) continue;
      await this.download(blob);
    }
  }

  private async patch(blob: ChannelBlob, delta: ChannelDelta): Promise<void> {
    const { platform, packaged, signal } = this.gathering;
    await this.download(delta);
    this.tell('patching');
    const isKept = (await platform.fileNames()).includes(delta.source);
    const own = isKept ? null : (packaged.get(delta.source) ?? null);
    try {
      await platform.patch({ source: delta.source, packaged: own, delta, result: blob }, signal);
    } finally {
      await platform.removeFile(delta.sha256);
    }
  }

  private async download({ sha256, sizeBytes }: Blob): Promise<void> {
    const { platform, address, signal } = this.gathering;
    const watcher: BlobWatcher = {
      signal,
      onBytes: (loadedBytes) => {
        this.loaded.set(sha256, loadedBytes);
        this.tell('downloading');
      },
    };
    this.tell('downloading');
    // By content, as TUF has it: no path comes from a list.
    await platform.download({ url: `${address}${sha256}.${sha256}`, sha256, sizeBytes }, watcher);
    watcher.onBytes(sizeBytes);
  }

  private tell(phase: 'downloading' | 'patching'): void {
    this.gathering.tell(phase, sum([...this.loaded.values()]), this.downloadBytes);
  }

  /** Every failure has another way out, unless nobody wants it any more. */
  private async succeeds(work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (reason) {
      const error = toModelError(reason);
      if (error.code === 'cancelled' || this.gathering.signal?.aborted === true) throw error;
      return false;
    }
  }
}

/** Missing ones among `blobs`, and the smallest delta of each whose source is there. */
export async function shoppingFor(blobs: readonly ChannelBlob[], gathering: Gathering): Promise<Shopping> {
  const { platform, packaged } = gathering;
  const kept = new Set(await platform.fileNames());
  const missing: Missing[] = [];
  for (const blob of blobs) {
    if (kept.has(blob.sha256) && (await platform.hasFile(blob))) continue;
    const usable = blob.deltas.filter(
      ({ source, sizeBytes }) => sizeBytes < blob.sizeBytes && (kept.has(source) || packaged.has(source)),
    );
    const [delta = null] = [...usable].sort((one, other) => one.sizeBytes - other.sizeBytes);
    missing.push({ blob, delta });
  }
  return new Shopping(gathering, missing);
}

/**
 * Whether there is room: `inUse` are the files that stay.
 *
 * @throws ModelError `no-space`
 */
export async function checkRoom(
  shopping: Shopping,
  inUse: readonly Blob[],
  limitBytes: number | undefined,
  platform: UpdatePlatform,
): Promise<void> {
  const needed = shopping.newBytes;
  const used = sum([...new Map(inUse.map(({ sha256, sizeBytes }) => [sha256, sizeBytes])).values()]);
  if (limitBytes !== undefined && used + needed > limitBytes) {
    throw new ModelError(
      'no-space',
      `the downloads would take ${String(used + needed)} bytes, and limitBytes is ${String(limitBytes)}`,
    );
  }
  const free = await platform.freeBytes();
  if (free >= 0 && free < needed) {
    throw new ModelError('no-space', `the download needs ${String(needed)} bytes, and ${String(free)} are free`);
  }
}

function sum(sizes: readonly number[]): number {
  return sizes.reduce((total, size) => total + size, 0);
}
