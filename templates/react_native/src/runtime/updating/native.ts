// The folder of an updater in an app, on storage that is not backed up; native code writes to it.

import type { Backend } from '../backend.js';
import type { PackagedFile } from '../descriptor.js';
import type { Store } from '../download.js';
import { ModelError, toModelError } from '../errors.js';
import type { AppStates } from '../native.js';
import type { Bytes } from '../trustBytes.js';
import { AppAttempts } from './appAttempts.js';
import { fetchFile } from './nativeDownload.js';
import { ask } from './nativeRequest.js';
import type { Blob, BlobDownload, BlobWatcher, DeviceState, Patch, UpdatePlatform } from './platform.js';

/** Native code for an updater. Errors have a message as in `Engine`. */
export interface Storage {
  /** A folder that the system does not empty. On Android `About.cache` is one, and is not backed up. */
  storageFolder(): string;
  /** Makes a folder, and has the system leave it out of backups. */
  prepareFolder(folder: string): Promise<void>;
  /** Text in UTF-8; empty for a file that is none. */
  readText(path: string): Promise<string>;
  /** Writes a text whole or not at all, and ends when it is on the disk. */
  writeText(path: string, text: string): Promise<void>;
  /** Names of the files in a folder; none where there is no folder. */
  fileNames(folder: string): Promise<readonly string[]>;
  /** Whether all of a file has that size and SHA-256. */
  hasFile(path: string, size: number, sha256: string): Promise<boolean>;
  /** Copies a part of a file; the copy appears checked and durable. */
  copyFile(source: string, offset: number, size: number, path: string, sha256: string): Promise<void>;
  /** Applies the file `delta` to a part of a file; the result appears checked and durable. */
  applyDelta(
    source: string,
    offset: number,
    sourceSize: number,
    delta: string,
    path: string,
    size: number,
    sha256: string,
  ): Promise<void>;
  /** Removes what was made of the file with that SHA-256: notes of checks, and what Core ML has compiled. */
  removeTraces(cache: string, sha256: string): Promise<void>;
  /** Makes the system put on the disk which files the folder of `path` has. */
  synchronizeFolderOf(path: string): Promise<void>;
  /** SHA-256 in hexadecimal. */
  digest(bytes: ArrayBuffer): Promise<string>;
  /** -1 when nobody knows. */
  freeBytes(folder: string): number;
  /** 32 hexadecimal digits that nobody can guess. */
  randomId(): string;
  /** Locks a file against this app's other JavaScript and processes: 0 when one of them has it. Ends with JavaScript. */
  lock(path: string): number;
  unlock(lock: number): void;
  /** Whether the network is unmetered and whether the device is charging: 1, 0, or -1 where nobody says. */
  deviceState(): Promise<readonly number[]>;
}

/** Android's state in place of `Storage.deviceState`. */
export interface AndroidDevice {
  deviceState(): { readonly unmetered: number; readonly charging: number };
}

const LOCKED_MS = 50;

/** Opens the folder of `channel` in an app. `android` is null on iOS; `app` says whether somebody sees the app. */
export function openStorage(
  channel: string,
  backend: Backend,
  storage: Storage,
  android: AndroidDevice | null,
  app: AppStates,
): UpdatePlatform {
  const base = backend.platform === 'android' ? backend.about().cache : storage.storageFolder();
  const folder = `${base}/channels/${channel}`;
  return new NativePlatform(folder, backend, storage, android, app);
}

class NativePlatform implements UpdatePlatform {
  private readonly folder: string;
  private readonly backend: Backend;
  private readonly storage: Storage;
  private readonly android: AndroidDevice | null;
  /** Ends of what is done alone here, by name. */
  private readonly last = new Map<string, Promise<unknown>>();
  private prepared: Promise<void> | null = null;
  readonly attempts: AppAttempts;

  constructor(folder: string, backend: Backend, storage: Storage, android: AndroidDevice | null, app: AppStates) {
    this.folder = folder;
    this.backend = backend;
    this.storage = storage;
    this.android = android;
    this.attempts = new AppAttempts(app, this);
  }

  async readText(name: string): Promise<string | null> {
    try {
      return await this.storage.readText(this.pathOf(name));
    } catch (reason) {
      const error = toModelError(reason);
      if (error.code === 'missing') return null;
      throw error;
    }
  }

  async writeText(name: string, text: string): Promise<void> {
    await this.prepare();
    await known(this.storage.writeText(this.pathOf(name), text));
  }

  async removeText(name: string): Promise<void> {
    await known(this.backend.removeFile(this.pathOf(name)));
  }

  async textNames(): Promise<readonly string[]> {
    const folders = ['', 'metadata/', 'releases/'];
    const names = await Promise.all(folders.map(async (folder) => (await this.namesIn(folder)).map((name) => folder + name)));
    return names.flat().filter((name) => name.endsWith('.json'));
  }

  hasFile({ sha256, sizeBytes }: Blob): Promise<boolean> {
    return known(this.storage.hasFile(this.fileOf(sha256), sizeBytes, sha256));
  }

  async fileNames(): Promise<readonly string[]> {
    const names = await this.namesIn('files');
    return [...new Set(names.map((name) => name.replace(/\..*$/, '')))];
  }

  async removeFile(sha256: string): Promise<void> {
    const path = this.fileOf(sha256);
    for (const each of [path, `${path}.part`, `${path}.new`]) await known(this.backend.removeFile(each));
    await known(this.storage.removeTraces(this.backend.about().cache, sha256));
  }

  async download({ url, sha256, sizeBytes }: BlobDownload, watcher: BlobWatcher): Promise<void> {
    await this.prepare();
    const path = this.fileOf(sha256);
    // A file of the right size may have other bytes.
    if (this.backend.fileSize(path) >= 0 && !(await this.hasFile({ sha256, sizeBytes }))) await this.removeFile(sha256);
    await fetchFile({ url, path, sizeBytes, sha256 }, this.store(), watcher);
  }

  async adopt(file: PackagedFile): Promise<void> {
    await this.prepare();
    const { path, offset } = await known(this.backend.locate(file.path, file.sizeBytes));
    await known(this.storage.copyFile(path, offset, file.sizeBytes, this.fileOf(file.sha256), file.sha256));
  }

  async patch({ source, packaged, delta, result }: Patch, signal: AbortSignal | undefined): Promise<void> {
    // It takes less than a second for 100 MB: what is under way is not ended.
    if (signal?.aborted === true) throw new ModelError('cancelled', 'the update was cancelled');
    const path = this.fileOf(source);
    const from =
      packaged === null
        ? { path, offset: 0, sizeBytes: this.backend.fileSize(path) }
        : { ...(await known(this.backend.locate(packaged.path, packaged.sizeBytes))), sizeBytes: packaged.sizeBytes };
    if (from.sizeBytes < 0) throw new ModelError('missing', `${path}, which a delta is for, is not there`);
    const { sha256, sizeBytes } = result;
    await known(
      this.storage.applyDelta(from.path, from.offset, from.sizeBytes, this.fileOf(delta.sha256), this.fileOf(sha256), sizeBytes, sha256),
    );
  }

  opening(): ReturnType<UpdatePlatform['opening']> {
    return { backend: this.backend, source: { folder: this.pathOf('files') } };
  }

  ask(...question: Parameters<UpdatePlatform['ask']>): ReturnType<UpdatePlatform['ask']> {
    return ask(...question);
  }

  freeBytes(): Promise<number> {
    return known(Promise.resolve(this.storage.freeBytes(this.folder)));
  }

  sha256(bytes: Bytes): Promise<string> {
    const isWhole = bytes.byteLength === bytes.buffer.byteLength;
    return known(this.storage.digest(isWhole ? bytes.buffer : bytes.slice().buffer));
  }

  randomId(): string {
    return this.storage.randomId();
  }

  async deviceState(): Promise<DeviceState> {
    const [unmetered = -1, charging = -1] =
      this.android === null ? await known(this.storage.deviceState()) : ofAndroid(this.android);
    return { isUnmetered: answerOf(unmetered), isCharging: answerOf(charging) };
  }

  alone<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.last.get(name) ?? Promise.resolve();
    const done = before.then(() => this.locked(name, work));
    this.last.set(
      name,
      done.catch(() => undefined),
    );
    return done;
  }

  private async locked<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
    await this.prepare();
    const path = this.pathOf(`locks/${name.replace(/[^A-Za-z0-9._-]/g, '-')}`);
    let lock = 0;
    while ((lock = this.take(path)) === 0) await new Promise((resolve) => setTimeout(resolve, LOCKED_MS));
    try {
      return await work();
    } finally {
      this.storage.unlock(lock);
    }
  }

  private take(path: string): number {
    try {
      return this.storage.lock(path);
    } catch (reason) {
      throw toModelError(reason);
    }
  }

  /** Storage as native code writes downloads, and the folder is durable, too. */
  private store(): Store {
    const { backend, storage } = this;
    return {
      fileSize: (path) => backend.fileSize(path),
      writePart: (path, offset, bytes) => backend.writePart(path, offset, bytes),
      removeFile: (path) => backend.removeFile(path),
      finishPart: async (part, path, size, sha256) => {
        await backend.finishPart(part, path, size, sha256);
        await storage.synchronizeFolderOf(path);
      },
    };
  }

  private prepare(): Promise<void> {
    this.prepared ??= known(this.storage.prepareFolder(this.folder)).catch((reason: unknown) => {
      this.prepared = null;
      throw reason;
    });
    return this.prepared;
  }

  private namesIn(folder: string): Promise<readonly string[]> {
    return known(this.storage.fileNames(this.pathOf(folder)));
  }

  private pathOf(name: string): string {
    return `${this.folder}/${name}`;
  }

  private fileOf(sha256: string): string {
    return this.pathOf(`files/${sha256}`);
  }
}

/** Errors as the package's own. */
async function known<Result>(made: Promise<Result>): Promise<Result> {
  try {
    return await made;
  } catch (reason) {
    throw toModelError(reason);
  }
}

function ofAndroid(android: AndroidDevice): readonly number[] {
  const { unmetered, charging } = android.deviceState();
  return [unmetered, charging];
}

function answerOf(number: number): boolean | null {
  return number < 0 ? null : number === 1;
}
