// What runs models by ONNX Runtime's JavaScript API.

import type { About, Backend, Device, Opened, OpenRequest, Place, Platform, Ran, TensorInfo } from './backend.js';
import { ModelError, toModelError } from './errors.js';
import type { OnnxRuntime, OrtApi, OrtSession, OrtSessionOptions, OrtValueMetadata } from './onnxruntimeApi.js';
import { bytesOf, checkedPart, locateFile, type OnnxRuntimeOptions, read } from './onnxruntimeFiles.js';
import { Runner, Times } from './onnxruntimeRuns.js';
import type { Produced } from './onnxruntimeTensors.js';

const MOST_THREADS = 4;
const ERRORS = 3;

/** A model as ONNX Runtime gets it. */
export interface Given {
  /** Its bytes, or its path. */
  readonly model: Uint8Array | string;
  /** Weights that it does not find itself. */
  readonly externalData: ReadonlyArray<{ readonly path: string; readonly data: Uint8Array }>;
  readonly sizeBytes: number;
}

/** Sessions and outputs that are kept have numbers, as in native code. */
export class OnnxRuntimeBackend implements Backend {
  readonly platform: Platform = 'web';
  readonly device: Device = { chip: '', apiLevel: 0 };
  readonly kept = null;
  private readonly ort: OrtApi;
  private readonly options: OnnxRuntimeOptions;
  private readonly runners = new Map<number, Runner>();
  private readonly calls = new Map<number, AbortController>();
  private readonly outputs = new Map<number, readonly Produced[]>();
  private readonly ownsInputs: boolean;
  private last = 0;

  /** With `ownsInputs`, callers leave the inputs of runs as they are: they are not copied. */
  constructor(ort: OnnxRuntime, options: OnnxRuntimeOptions, ownsInputs = false) {
    // Its own types are overloads of which this is a part.
    this.ort = ort as unknown as OrtApi;
    this.options = options;
    this.ownsInputs = ownsInputs;
  }

  about(): About {
    const { versions } = this.ort.env;
    const { navigator } = globalThis as { readonly navigator?: { readonly hardwareConcurrency?: number } };
    return {
      runtimeVersion: versions['web'] ?? versions['node'] ?? versions['common'] ?? '',
      bundle: '',
      cache: '',
      threads: Math.min(navigator?.hardwareConcurrency ?? 1, MOST_THREADS),
    };
  }

  locate(path: string): Promise<Place> {
    return Promise.resolve().then(() => locateFile(this.options, path));
  }

  onMemoryPressure(): () => void {
    return () => undefined;
  }

  async open(request: OpenRequest, model: ArrayBuffer | null): Promise<Opened> {
    const given = await this.given(request, model);
    const session = await this.create(given.model, sessionOptions(request, given.externalData));
    const number = this.next();
    this.runners.set(number, new Runner(this.ort, session, this.ownsInputs));
    return {
      session: number,
      inputs: session.inputMetadata.map(tensorInfo),
      outputs: session.outputMetadata.map(tensorInfo),
      sizeBytes: given.sizeBytes,
      assignment: null,
    };
  }

  close(session: number): void {
    this.runners.get(session)?.release();
    this.runners.delete(session);
  }

  async run(
    session: number,
    call: number,
    buffers: readonly ArrayBuffer[],
    layout: readonly number[],
    texts: ReadonlyArray<readonly string[]>,
    isTimed: boolean,
  ): Promise<Ran> {
    const runner = this.runners.get(session);
    if (runner === undefined) throw new ModelError('disposed', `session ${String(session)} was closed`);
    const controller = new AbortController();
    this.calls.set(call, controller);
    try {
      const times = new Times(isTimed);
      const produced = await runner.run({ buffers, layout, texts, signal: controller.signal, times });
      return this.keep(produced, times);
    } finally {
      this.calls.delete(call);
    }
  }

  runSync(): Ran {
    throw new ModelError('unsupported', 'ONNX Runtime for JavaScript has no runs that end at once: use run()');
  }

  profile(): Promise<string> {
    return Promise.reject(new ModelError('unsupported', 'ONNX Runtime for JavaScript writes no trace to a file'));
  }

  worklet(): object {
    throw new ModelError('unsupported', 'there are no worklets here');
  }

  isHot(): boolean {
    return false; // browsers do not tell
  }

  residentBytes(): number {
    return -1;
  }

  cancel(call: number): void {
    this.calls.get(call)?.abort();
  }

  allocate(sizeBytes: number): ArrayBuffer {
    return new ArrayBuffer(sizeBytes);
  }

  /** The outputs of a run, where they lie. */
  produced(kept: number): readonly Produced[] {
    return this.outputs.get(kept) ?? [];
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
    const all = await read(path, this.options);
    const size = into.byteLength;
    if (all.length < offset + size) throw new ModelError('unreadable', `${path} has ${String(all.length)} bytes`);
    new Uint8Array(into).set(await checkedPart({ name: '', path, offset, size, sha256, endsSha256: '' }, all));
  }

  writePart(path: string): Promise<void> {
    return noFiles(path);
  }

  finishPart(part: string): Promise<void> {
    return noFiles(part);
  }

  removeFile(path: string): Promise<void> {
    return noFiles(path);
  }

  makeFolder(path: string): Promise<void> {
    return noFiles(path);
  }

  /** A checked model as ONNX Runtime opens it. */
  protected async given({ file, weights }: OpenRequest, model: ArrayBuffer | null): Promise<Given> {
    const bytes = model === null ? await bytesOf(file, this.options) : await checkedPart(file, new Uint8Array(model));
    const externalData: { path: string; data: Uint8Array }[] = [];
    for (const part of weights) externalData.push({ path: part.name, data: await bytesOf(part, this.options) });
    const sizeBytes = externalData.reduce((total, { data }) => total + data.length, bytes.length);
    return { model: bytes, externalData, sizeBytes };
  }

  private async create(model: Uint8Array | string, options: OrtSessionOptions): Promise<OrtSession> {
    try {
      return await this.ort.InferenceSession.create(model, options);
    } catch (reason) {
      throw toModelError(reason);
    }
  }

  /** Outputs with memory of the app need not be kept; nobody takes them. */
  private keep(produced: readonly Produced[], { queued, duration }: Times): Ran {
    const kept = this.next();
    this.outputs.set(kept, produced);
    const [shapes, texts] = [produced.map((each) => each.shape), produced.map((each) => each.texts)];
    return { kept, shapes, texts, queued, duration };
  }

  private next(): number {
    this.last += 1;
    return this.last;
  }
}

function sessionOptions(request: OpenRequest, externalData: Given['externalData']): OrtSessionOptions {
  const { provider, threads } = request;
  const name = provider === '' ? 'cpu' : provider.toLowerCase();
  const provided = entries(request.providerKeys, request.providerValues);
  const settings = Object.entries(entries(request.settingKeys, request.settingValues));
  const own = `ep.${name}executionprovider.`;
  const ofProvider = settings.filter(([key]) => key.startsWith(own)).map(([key, value]) => [key.slice(own.length), value]);
  return {
    // Alone: of several, those that are not there would be left out, and nobody would know. Settings of the session come
    // after it has read its own.
    executionProviders: [{ ...provided, ...Object.fromEntries(ofProvider), name }],
    extra: Object.fromEntries(settings.filter(([key]) => !key.startsWith(own))),
    logSeverityLevel: ERRORS, // its warnings are about nodes that a provider leaves to the CPU
    ...(threads > 0 ? { intraOpNumThreads: threads } : {}),
    ...(externalData.length > 0 ? { externalData } : {}),
  };
}

function entries(keys: readonly string[], values: readonly string[]): Record<string, string> {
  return Object.fromEntries(keys.map((key, index) => [key, values[index] ?? '']));
}

function tensorInfo({ name, type, shape }: OrtValueMetadata): TensorInfo {
  const sizes = (shape ?? []).map((size) => (typeof size === 'number' && size >= 0 ? size : -1));
  return { name, type: type ?? '', shape: sizes };
}

function noFiles(path: string): Promise<never> {
  return Promise.reject(new ModelError('unsupported', `${path} cannot be written: there are no folders here`));
}
