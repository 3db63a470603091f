// Where the files of a model come from: the app, a server, a folder, or the app's own file or memory.

import type { Backend, Part } from './backend.js';
import { type ModelDescriptor, type ModelFile, type PackagedFile, PLAIN_FILE, platformFiles } from './descriptor.js';
import { download, pathsUnderWay } from './download.js';
import { fetchOnce, keepInMemory } from './downloadMemory.js';
import { ModelError } from './errors.js';
import type { LoadOptions, ModelSource, PlacedFile, Progress, Source } from './options.js';
import { PROVIDERS, type Provider } from './providers.js';
import { checkSource } from './sourcesChecked.js';

/** Where the package's own files are. */
type Packaged = 'bundled' | { readonly url: string } | { readonly folder: string };
type Own = Exclude<Source, Packaged>;
/** A file of the app's own, and how it is made ready. */
type OwnFile = readonly [file: ModelFile, place: () => Promise<PlacedFile>];

/**
 * The files of `model`, from where `options.source` says.
 *
 * @throws ModelError `bad-options` for a source that is none, `unsupported`, `cancelled`
 */
export function sourceOf(model: ModelDescriptor, backend: Backend, options: LoadOptions): Promise<ModelSource> {
  // Promises are rejected, even for what is wrong at once.
  return Promise.resolve().then(() => {
    const { source = 'bundled' } = options;
    checkSource(source, backend.platform);
    if (options.signal?.aborted === true) {
      throw new ModelError('cancelled', `loading ${model.className} was cancelled`);
    }
    if (!isPackaged(source)) return own(source, new Placer(model, backend, options, 'bundled'));
    const placer = new Placer(model, backend, options, source);
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

function isPackaged(source: Source): source is Packaged {
  return source === 'bundled' || 'url' in source || 'folder' in source;
}

function own(source: Own, placer: Placer): ModelSource {
  const [given, placeGiven] = ownOf(source, placer);
  return {
    files: [given],
    isOwn: true,
    notes: '',
    place: (files) => Promise.all(files.map((file) => (file === given ? placeGiven() : placer.placeOne(file)))),
    discard: () => Promise.resolve(false),
  };
}

function ownOf(source: Own, placer: Placer): OwnFile {
  if ('path' in source) return fileAt(source.path, source.sha256, placer);
  return 'buffer' in source ? fileIn(source) : fileBy(source);
}

function fileAt(path: string, sha256: string | undefined, placer: Placer): OwnFile {
  const file = ownFile(path, sha256);
  return [file, () => placer.placeAt(withoutScheme(path), file)];
}

/** Libraries for files write paths as addresses. */
function withoutScheme(path: string): string {
  return path.startsWith('file://') ? decodeURIComponent(path.replace(/^file:\/\/(\/(?=[a-z]:))?/i, '')) : path;
}

function fileIn(source: Extract<Own, { readonly buffer: unknown }>): OwnFile {
  const { buffer } = source;
  const file = ownFile('buffer', source.sha256);
  const [bytes, offset] = ArrayBuffer.isView(buffer) ? [buffer.buffer as ArrayBuffer, buffer.byteOffset] : [buffer, 0];
  const part: Part = { name: '', path: '', offset, size: buffer.byteLength, sha256: file.sha256, endsSha256: '' };
  return [file, () => Promise.resolve({ part, bytes })];
}

function fileBy(source: Extract<Own, { readonly descriptor: number }>): OwnFile {
  const { descriptor, offset = 0, size = -1 } = source;
  const path = `descriptor ${String(descriptor)}`;
  const file = ownFile(path, source.sha256);
  const part: Part = { name: '', path, offset, size, sha256: file.sha256, endsSha256: '' };
  return [file, () => Promise.resolve({ part, descriptor, bytes: null })];
}

function ownFile(path: string, sha256: string | undefined): ModelFile {
  return {
    path,
    sha256: sha256?.toLowerCase() ?? '',
    endsSha256: '',
    sizeBytes: -1,
    providers: Object.keys(PROVIDERS) as Provider[],
    ...PLAIN_FILE,
  };
}

/** Makes files ready, and tells how far their downloads have come. */
class Placer {
  private readonly backend: Backend;
  private readonly options: LoadOptions;
  private readonly source: Packaged;
  private readonly samples: ReadonlySet<string>;
  private readonly wantedBytes = new Map<string, number>();
  private readonly loadedBytes = new Map<string, number>();

  constructor(model: ModelDescriptor, backend: Backend, options: LoadOptions, source: Packaged) {
    this.backend = backend;
    this.options = options;
    this.source = source;
    this.samples = new Set(model.golden.map((golden) => golden.file.path));
  }

  async place(files: readonly PackagedFile[]): Promise<readonly PlacedFile[]> {
    for (const file of files) this.wantedBytes.set(file.path, file.sizeBytes);
    const placed: PlacedFile[] = [];
    for (const file of files) placed.push(await this.placeOne(file));
    return placed;
  }

  async placeOne(file: PackagedFile): Promise<PlacedFile> {
    const { source } = this;
    if (source === 'bundled') {
      const { path, offset } = await this.backend.locate(file.path, file.sizeBytes, file.url?.());
      return this.placeAt(path, file, false, offset);
    }
    if ('folder' in source) return { part: partOf(file, pathIn(source.folder, file), 0), bytes: null };
    if (this.backend.platform === 'web') return this.placeAt(addressOf(file, source.url), file, true);
    return this.downloaded(file, source.url);
  }

  /** Words name the file whose bytes they are about. */
  async discard(placed: readonly PlacedFile[], { message }: ModelError): Promise<boolean> {
    if (this.source === 'bundled' || !('url' in this.source) || this.backend.platform === 'web') return false;
    const wrong = placed.filter(({ part }) => message.includes(part.path));
    for (const { part } of wrong) await this.backend.removeFile(part.path);
    return wrong.length > 0;
  }

  /** In a browser, a file is an address, and is fetched to memory. */
  async placeAt(path: string, file: PackagedFile, mustBeSecure = false, offset = 0): Promise<PlacedFile> {
    const part = partOf(file, path, offset);
    if (this.backend.platform !== 'web' || !/^(https?|blob|data):/i.test(path)) return { part, bytes: null };
    const { sizeBytes, sha256 } = file;
    const wanted = { url: path, sizeBytes, sha256, mustBeSecure };
    const bytes = await fetchOnce(wanted, this.watcher(file), this.backend.kept, this.backend.checksum);
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

/** An error of an app's own function does not end a download that others may wait for too. */
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

/** By content: versions, models and platforms share a folder, and nothing in it is ever replaced. */
function addressOf(file: PackagedFile, url: string): string {
  return url + file.sha256;
}

function pathIn(folder: string, file: PackagedFile): string {
  return `${withoutScheme(folder).replace(/\/+$/, '')}/${file.sha256}`;
}

function downloadsFolder(backend: Backend): string {
  return `${backend.about().cache}/downloads`;
}

/** By content: files that two versions of a package share are downloaded once, others never mistaken for each other. */
function downloadName(file: PackagedFile): string {
  return `${file.sha256}-${file.path}`;
}

/** Paths of models that are open, which may open their files again. */
const inUse = new Set<readonly string[]>();

/** Makes `removeDownloads` leave the files with these paths, until the function that this returns is called. */
export function keepFiles(paths: readonly string[]): () => void {
  inUse.add(paths);
  return () => {
    inUse.delete(paths);
  };
}

/** Names of the files of models that are open. */
export function namesInUse(): readonly string[] {
  return [...inUse].flat().map(nameIn);
}

function nameIn(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/**
 * Removes downloaded files but those of `keep`, those that are on their way, and those of models that are open.
 *
 * @throws ModelError `unreadable`
 */
export async function removeDownloads(backend: Backend, keep: readonly ModelDescriptor[]): Promise<void> {
  if (backend.kept !== null) {
    const wanted = keep.flatMap((model) => filesOf(model, backend).map((file) => file.sha256));
    await backend.kept.retain(new Set(wanted));
  }
  if (backend.about().cache === '') return;
  const names = keep.flatMap((model) => filesOf(model, backend).map(downloadName));
  const kept = [...names, ...pathsUnderWay().map(nameIn), ...namesInUse()].flatMap((name) => [name, `${name}.part`]);
  await backend.makeFolder(`${downloadsFolder(backend)}/current`, kept);
}

function filesOf(model: ModelDescriptor, backend: Backend): readonly PackagedFile[] {
  const { files } = platformFiles(model, backend.platform);
  return [...files.flatMap((file) => [file, ...file.weights]), ...model.golden.map((golden) => golden.file)];
}
