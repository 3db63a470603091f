// Runs the models of a package in a browser, or in Node.

import type { About, Backend, Checked, Device, KeptFiles, Opened, OpenRequest, Part, Place, Platform, Ran } from '../runtime/backend.js';
import { bytesInMemory, checkBytes, fetchOnce, fetchToMemory } from '../runtime/downloadMemory.js';
import { ModelError } from '../runtime/errors.js';
import { cancellable, copied, throwIfCancelled, Times } from '../runtime/onnxruntimeRuns.js';
import { placedTensors, write, type Placed, type Produced } from '../runtime/onnxruntimeTensors.js';
import { LocalHost, type Host, type RunAnswer, type RunRequest } from './engine.js';
import { isFile, readFile } from './files.js';
import { keptFilesOf } from './keptFiles.js';
import { isOfPage, threadsOf, type PageOptions, type Site } from './site.js';
import { WorkerHost } from './workerHost.js';

const BUNDLED = 'onnxruntime/';
const MADE_BY_RUNTIME = [0, -1, 0];
const UNWATCHED = { signal: undefined, onBytes: (): void => undefined };

/** An open model: how many inputs a run begins with, and the names of its outputs. */
interface OpenSession {
  readonly host: Host;
  /** Its number there. */
  readonly session: number;
  readonly inputs: number;
  readonly outputs: readonly string[];
  /** Settled when the last run that was asked for has ended. */
  turn: Promise<unknown>;
}

/** A host, and the start of ONNX Runtime in it. */
interface Hosting {
  readonly host: Host;
  starting: Promise<Host> | null;
}

/** Starts ONNX Runtime when the first model is opened, once for all models of the package. */
export class WebBackend implements Backend {
  readonly platform: Platform = 'web';
  readonly device: Device = { chip: '', apiLevel: 0 };
  readonly kept: KeptFiles | null;
  readonly packageName: string;
  private readonly site: Site;
  private readonly options: PageOptions;
  private readonly threads: number;
  private readonly sessions = new Map<number, OpenSession>();
  private readonly calls = new Map<number, AbortController>();
  private readonly outputs = new Map<number, readonly Produced[]>();
  /** Where ONNX Runtime runs, or will. */
  private hosting: Hosting | null = null;
  private last = 0;

  constructor(site: Site, options: PageOptions) {
    this.site = site;
    this.packageName = site.packageName;
    this.options = options;
    this.threads = threadsOf(options, this.scriptUrl());
    this.kept = options.cache === false ? null : keptFilesOf(site.packageName, site.binary.sha256);
  }

  about(): About {
    return { runtimeVersion: this.site.runtimeVersion, bundle: '', cache: '', threads: this.threads };
  }

  /** In the worker, where there is one: a browser copies what it computes checksums of. */
  readonly checksum = (bytes: ArrayBuffer): Promise<Checked> => this.madeHosting().host.checksum(bytes);

  locate(path: string, _size: number, url = ''): Promise<Place> {
    return Promise.resolve({ path: this.addressOf(`models/${path}`, url), offset: 0 });
  }

  probe(provider: string): Promise<void> {
    return this.madeHosting().host.probe(provider);
  }

  async open(request: OpenRequest, model: ArrayBuffer | null): Promise<Opened> {
    const { file, weights } = request;
    const bytes = model === null ? await bytesOf(file) : await given(file, model);
    const data: ArrayBuffer[] = [];
    for (const part of weights) data.push(await bytesOf(part));
    const host = await this.started();
    // Whole and checked by now.
    const opened = await host.open({ ...request, file: checked(file), weights: weights.map(checked) }, bytes, data);
    const outputs = opened.outputs.map(({ name }) => name);
    // Another host counts its sessions anew.
    const session = this.next();
    this.sessions.set(session, { host, session: opened.session, inputs: opened.inputs.length, outputs, turn: Promise.resolve() });
    return { ...opened, session };
  }

  isLost(session: number): boolean {
    return this.sessions.get(session)?.host.hasFailed === true;
  }

  abandon(): void {
    this.hosting?.host.abandon();
  }

  close(session: number): void {
    const open = this.sessions.get(session);
    this.sessions.delete(session);
    void open?.turn.then(() => { open.host.close(open.session); });
  }

  async run(
    session: number,
    call: number,
    buffers: readonly ArrayBuffer[],
    layout: readonly number[],
    texts: ReadonlyArray<readonly string[]>,
    isTimed: boolean,
  ): Promise<Ran> {
    const open = this.sessions.get(session);
    if (open === undefined) throw new ModelError('disposed', `session ${String(session)} was closed`);
    const placed = placedTensors(buffers, layout);
    const inputs = placed.slice(0, open.inputs).map(copied);
    const targets = placed.slice(open.inputs);
    const request: RunRequest = {
      session: open.session,
      buffers: [...inputs.map(({ buffer }) => buffer), ...targets.map(() => new ArrayBuffer(0))],
      layout: [...inputs.flatMap(layoutOf), ...targets.flatMap(() => MADE_BY_RUNTIME)],
      texts,
    };
    const times = new Times(isTimed);
    const { outputs } = await this.inTurn(open, request, call, times);
    const { queued, duration } = times;
    outputs.forEach((made, index) => {
      const into = targets[index];
      if (into !== undefined && into.byteLength >= 0) write(open.outputs[index] ?? '', made, into);
    });
    const kept = this.next();
    this.outputs.set(kept, outputs);
    return { kept, shapes: outputs.map(({ shape }) => shape), texts: outputs.map((each) => each.texts), queued, duration };
  }

  /** A run that was cancelled before its turn is never asked of the host, which could not stop it. */
  private async inTurn(open: OpenSession, request: RunRequest, call: number, times: Times): Promise<RunAnswer> {
    const controller = new AbortController();
    this.calls.set(call, controller);
    const ended = open.turn.then(async () => {
      throwIfCancelled(controller.signal);
      times.begin();
      const answer = await open.host.run(request);
      times.end();
      return answer;
    });
    open.turn = ended.catch(() => undefined);
    try {
      return await cancellable(ended, controller.signal);
    } finally {
      this.calls.delete(call);
    }
  }

  runSync(): Ran {
    throw new ModelError('unsupported', 'a browser has no runs that end at once: use run()');
  }

  profile(): Promise<string> {
    return Promise.reject(new ModelError('unsupported', 'ONNX Runtime for the web writes no trace to a file'));
  }

  worklet(): object {
    throw new ModelError('unsupported', 'there are no worklets here: models run in a worker already');
  }

  onMemoryPressure(): () => void {
    return () => undefined;
  }

  isHot(): boolean {
    return false; // browsers do not tell
  }

  residentBytes(): number {
    return -1;
  }

  /** ONNX Runtime cannot end a run that is under way: it goes on, and its outputs are dropped. */
  cancel(call: number): void {
    this.calls.get(call)?.abort();
  }

  allocate(sizeBytes: number): ArrayBuffer {
    return new ArrayBuffer(sizeBytes);
  }

  take(kept: number, output: number, into: ArrayBuffer): void {
    const bytes = this.outputs.get(kept)?.[output]?.bytes;
    if (bytes?.byteLength !== into.byteLength) throw new ModelError('bad-input', `no output ${String(output)} is kept`);
    new Uint8Array(into).set(bytes);
  }

  drop(kept: number): void {
    this.outputs.delete(kept);
  }

  fileSize(): number {
    return -1;
  }

  async readFile(path: string, offset: number, into: ArrayBuffer, sha256: string): Promise<void> {
    const size = into.byteLength;
    const bytes = await bytesOf({ name: '', path, offset, size, sha256, endsSha256: '' });
    new Uint8Array(into).set(new Uint8Array(bytes));
  }

  writePart(path: string): Promise<void> {
    return noFolders(path);
  }

  finishPart(part: string): Promise<void> {
    return noFolders(part);
  }

  removeFile(path: string): Promise<void> {
    return noFolders(path);
  }

  makeFolder(path: string): Promise<void> {
    return noFolders(path);
  }

  /** Where a file is: in the copy of the package that the page has named, or where the bundler put it. */
  private addressOf(path: string, url: string): string {
    const { base } = this.options;
    if (base === undefined) return url;
    const { location } = globalThis as { readonly location?: { readonly href: string } };
    return new URL(base + path, location?.href).href;
  }

  private next(): number {
    this.last += 1;
    return this.last;
  }

  private started(): Promise<Host> {
    const hosting = this.madeHosting();
    hosting.starting ??= this.start(hosting.host).catch((reason: unknown) => {
      hosting.starting = null; // the next model tries again
      throw reason;
    });
    return hosting.starting;
  }

  private async start(host: Host): Promise<Host> {
    const { binary } = this.site;
    const { sizeBytes, sha256 } = binary;
    const url = this.addressOf(BUNDLED + nameOf(binary.url()), binary.url());
    const content = isFile(url)
      ? await readFile(url, sizeBytes, sha256)
      : await fetchOnce({ url, sizeBytes, sha256, mustBeSecure: false }, UNWATCHED, this.kept, this.checksum);
    const request = { script: this.scriptUrl(), binary: content, threads: this.threads };
    try {
      await host.start(request);
      return host;
    } catch (reason) {
      // The next model gets another one.
      if (this.hosting?.host === host) this.hosting = null;
      host.end();
      throw reason;
    }
  }

  /** One that has failed is replaced. */
  private madeHosting(): Hosting {
    if (this.hosting === null || this.hosting.host.hasFailed) {
      this.hosting = { host: this.hasWorker() ? this.workerHost() : new LocalHost(), starting: null };
    }
    return this.hosting;
  }

  private workerHost(): Host {
    try {
      return new WorkerHost(this.makeWorker());
    } catch (reason) {
      throw new ModelError('host', `no worker can be started here: ${String(reason)}`, { cause: reason });
    }
  }

  private scriptUrl(): string {
    const url = this.site.script();
    return this.addressOf(BUNDLED + nameOf(url), url);
  }

  private hasWorker(): boolean {
    return this.options.worker !== false && 'Worker' in globalThis;
  }

  private makeWorker(): Worker {
    if (this.options.base !== undefined) return workerAt(this.addressOf('lib/web/worker.js', ''));
    const script = this.scriptUrl();
    if (isOfPage(script)) return this.site.makeWorker();
    return workerAt(new URL('../lib/web/worker.js', script).href);
  }
}

/** Browsers start no worker from another origin, such as a CDN, but one of the page's own that imports it. */
function workerAt(url: string): Worker {
  if (isOfPage(url)) return new Worker(url, { type: 'module' });
  const imports = new Blob([`import ${JSON.stringify(url)};`], { type: 'text/javascript' });
  return new Worker(URL.createObjectURL(imports), { type: 'module' });
}

function nameOf(url: string): string {
  return url.slice(url.lastIndexOf('/') + 1);
}

/** Memory that the app has given is copied: the host takes what it gets. */
async function given({ path, offset, size, sha256 }: Part, model: ArrayBuffer): Promise<ArrayBuffer> {
  if (path !== '') return model;
  const bytes = model.slice(offset, size < 0 ? undefined : offset + size);
  await checkBytes(new Uint8Array(bytes), size, sha256, 'buffer');
  return bytes;
}

/** The bytes of a part: fetched a moment ago, or read from Node's disk. */
async function bytesOf(part: Part): Promise<ArrayBuffer> {
  const inMemory = bytesInMemory(part);
  if (inMemory !== undefined) return inMemory;
  const { path, size, sha256 } = part;
  if (isFile(path)) return readFile(path, size, sha256);
  return fetchToMemory({ url: path, sizeBytes: size, sha256, mustBeSecure: false }, UNWATCHED);
}

function checked(part: Part): Part {
  return { ...part, offset: 0, size: -1, sha256: '', endsSha256: '' };
}

function layoutOf({ byteOffset, byteLength, shape }: Placed): number[] {
  return [byteOffset, byteLength, shape.length, ...shape];
}

function noFolders(path: string): Promise<never> {
  return Promise.reject(new ModelError('unsupported', `${path} cannot be written: there are no folders here`));
}
