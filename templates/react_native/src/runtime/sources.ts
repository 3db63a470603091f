// Where the files of a model come from: the app, a server, or the app's own file or memory.

import type { Backend, Part } from './backend.js';
import { type ModelDescriptor, type ModelFile, type PackagedFile, platformFiles } from './descriptor.js';
import { download, pathsUnderWay } from './download.js';
import { fetchToMemory, keepInMemory } from './downloadMemory.js';
import { ModelError } from './errors.js';
import type { LoadOptions, ModelSource, PlacedFile, Progress, Source } from './options.js';
import { checkSource } from './sourcesChecked.js';

type Own = Exclude<Source, 'bundled' | { readonly url: string }>;
/** A file of the app's own, and how it is made ready. */
type OwnFile = readonly [file: ModelFile, place: () => Promise<PlacedFile>];

/**
 * The files of `model`, from where `options.source` says.
 *
 * @throws ModelError `bad-options` for a source that is none, `cancelled`
 */
export function sourceOf(model: ModelDescriptor, backend: Backend, options: LoadOptions): Promise<ModelSource> {
  // Promises are rejected, even for what is wrong at once.
  return Promise.resolve().then(() => {
    const { source = 'bundled' } = options;
    checkSource(source, backend.platform);
    if (options.signal?.aborted === true) {
      throw new ModelError('cancelled', `loading ${model.className} was cancelled`);
    }
    if (source !== 'bundled' && !('url' in source)) return own(source, new Placer(model, backend, options, null));
    const placer = new Placer(model, backend, options, source === 'bundled' ? null : source.url);
    const { cache } = backend.about();
    return {
      files: platformFiles(model, backend.platform).files,
      isOwn: false,
      notes: cache === '' ? '' : `${cache}/checked`,
      place: (files) => placer.place(files),
      discard: (placed, error) => placer.discard(placed, error),
    };
  });
}

function own(source: Own, placer: Placer): ModelSource {
  const [given, placeGiven] = 'path' in source ? fileAt(source.path, source.sha256, placer) : fileIn(source);
  return {
    files: [given],
    isOwn: true,
    notes: '',
    place: (files) => Promise.all(files.map((file) => (file === given ? placeGiven() : placer.placeOne(file)))),
    discard: () => Promise.resolve(false),
  };
}

function fileAt(path: string, sha256: string | undefined, placer: Placer): OwnFile {
  const file = ownFile(path, sha256);
  return [file, () => placer.placeAt(withoutScheme(path), file)];
}

/** Libraries for files write paths as addresses. */
function withoutScheme(path: string): string {
  return path.startsWith('file://') ? decodeURIComponent(path.slice('file://'.length)) : path;
}

function fileIn(source: Extract<Own, { readonly buffer: unknown }>): OwnFile {
  const { buffer } = source;
  const file = ownFile('buffer', source.sha256);
  const [bytes, offset] = ArrayBuffer.isView(buffer) ? [buffer.buffer as ArrayBuffer, buffer.byteOffset] : [buffer, 0];
  const part: Part = { name: '', path: '', offset, size: buffer.byteLength, sha256: file.sha256, endsSha256: '' };
  return [file, () => Promise.resolve({ part, bytes })];
}

function ownFile(path: string, sha256: string | undefined): ModelFile {
  return {
    path,
    sha256: sha256?.toLowerCase() ?? '',
    endsSha256: '',
    sizeBytes: -1,
    providers: ['coreml', 'xnnpack', 'nnapi', 'qnn', 'webgpu', 'cpu'],
    chips: [],
    settings: {},
    weights: [],
    isFloat16: false,
  };
}

/** Makes files ready, and tells how far their downloads have come. */
class Placer {
  private readonly backend: Backend;
  private readonly options: LoadOptions;
  /** Address of the folder on a server; null for files that came with the app. */
  private readonly url: string | null;
  private readonly samples: ReadonlySet<string>;
  private readonly wantedBytes = new Map<string, number>();
  private readonly loadedBytes = new Map<string, number>();

  constructor(model: ModelDescriptor, backend: Backend, options: LoadOptions, url: string | null) {
    this.backend = backend;
    this.options = options;
    this.url = url;
    this.samples = new Set(model.golden.map((golden) => golden.file.path));
  }

  async place(files: readonly PackagedFile[]): Promise<readonly PlacedFile[]> {
    for (const file of files) this.wantedBytes.set(file.path, file.sizeBytes);
    const placed: PlacedFile[] = [];
    for (const file of files) placed.push(await this.placeOne(file));
    return placed;
  }

  async placeOne(file: PackagedFile): Promise<PlacedFile> {
    if (this.url !== null && this.backend.platform !== 'web') return this.downloaded(file, this.url);
    if (this.url !== null) return this.placeAt(addressOf(file, this.url), file, true);
    const { path, offset } = await this.backend.locate(file.path, file.sizeBytes);
    return this.placeAt(path, file, false, offset);
  }

  /** Words name the file whose bytes they are about. */
  async discard(placed: readonly PlacedFile[], { message }: ModelError): Promise<boolean> {
    if (this.url === null || this.backend.platform === 'web') return false;
    const wrong = placed.filter(({ part }) => message.includes(part.path));
    for (const { part } of wrong) await this.backend.removeFile(part.path);
    return wrong.length > 0;
  }

  /** In a browser, a file is an address, and is fetched to memory. */
  async placeAt(path: string, file: PackagedFile, mustBeSecure = false, offset = 0): Promise<PlacedFile> {
    const part = partOf(file, path, offset);
    if (this.backend.platform !== 'web' || !/^(https?|blob|data):/i.test(path)) return { part, bytes: null };
    const { sizeBytes, sha256 } = file;
    const bytes = await fetchToMemory({ url: path, sizeBytes, sha256, mustBeSecure }, this.watcher(file));
    this.finish(file);
    const inMemory: Part = { ...part, size: bytes.byteLength, sha256: '', endsSha256: '' };
    keepInMemory(inMemory, bytes);
    return { part: inMemory, bytes };
  }

  private async downloaded(file: PackagedFile, url: string): Promise<PlacedFile> {
    const { sizeBytes, sha256 } = file;
    const path = `${downloadsFolder(this.backend)}/${downloadName(file)}`;
    await download({ url: addressOf(file, url), path, sizeBytes, sha256 }, this.backend, this.watcher(file));
    this.finish(file);
    return { part: partOf(file, path, 0), bytes: null };
  }

  /** Samples are wanted long after the model was loaded: its signal and its progress are not theirs. */
  private watcher(file: PackagedFile): { signal: AbortSignal | undefined; onBytes: (loadedBytes: number) => void } {
    if (this.samples.has(file.path)) return { signal: undefined, onBytes: () => undefined };
    return {
      signal: this.options.signal,
      onBytes: (loadedBytes) => {
        this.tell(file, loadedBytes);
      },
    };
  }

  private finish(file: PackagedFile): void {
    this.watcher(file).onBytes(file.sizeBytes);
  }

  private tell(file: PackagedFile, loadedBytes: number): void {
    if (this.options.onProgress === undefined || loadedBytes < 0) return;
    this.loadedBytes.set(file.path, loadedBytes);
    report(this.options.onProgress, { loadedBytes: sum(this.loadedBytes), totalBytes: sum(this.wantedBytes) });
  }
}

/** What an app's own function throws does not end a download that others may wait for too. */
function report(onProgress: (progress: Progress) => void, progress: Progress): void {
  try {
    onProgress(progress);
  } catch (reason) {
    setTimeout(() => {
      throw reason;
    });
  }
}

function sum(sizes: ReadonlyMap<string, number>): number {
  return [...sizes.values()].reduce((total, size) => total + size, 0);
}

/** `file` where it lies; a file of weights has a name. */
function partOf(file: PackagedFile & { readonly name?: string }, path: string, offset: number): Part {
  const { name = '', sizeBytes: size, sha256, endsSha256 } = file;
  return { name, path, offset, size, sha256, endsSha256 };
}

function addressOf(file: PackagedFile, url: string): string {
  return url + encodeURIComponent(file.path);
}

function downloadsFolder(backend: Backend): string {
  return `${backend.about().cache}/downloads`;
}

/** By content: files that two versions of a package share are downloaded once, others never mistaken for each other. */
function downloadName(file: PackagedFile): string {
  return `${file.sha256}-${file.path}`;
}

/**
 * Removes downloaded files but those of `keep` and those that are on their way. Models that are open stay usable.
 *
 * @throws ModelError `unreadable`
 */
export async function removeDownloads(backend: Backend, keep: readonly ModelDescriptor[]): Promise<void> {
  if (backend.about().cache === '') return;
  const names = keep.flatMap((model) => filesOf(model, backend).map(downloadName));
  const coming = pathsUnderWay().map((path) => path.slice(path.lastIndexOf('/') + 1));
  const kept = [...names, ...coming].flatMap((name) => [name, `${name}.part`]);
  await backend.makeFolder(`${downloadsFolder(backend)}/current`, kept);
}

function filesOf(model: ModelDescriptor, backend: Backend): readonly PackagedFile[] {
  const { files } = platformFiles(model, backend.platform);
  return [...files.flatMap((file) => [file, ...file.weights]), ...model.golden.map((golden) => golden.file)];
}
