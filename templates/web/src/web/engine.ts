// ONNX Runtime's WebAssembly and the sessions in it: on the page's own thread, in a worker, or in Node.

import { checksumHere, keepInMemory } from '../runtime/downloadMemory.js';
import { ModelError } from '../runtime/errors.js';
import type { Checked, Opened, OpenRequest } from '../runtime/backend.js';
import type { OnnxRuntime } from '../runtime/onnxruntimeApi.js';
import { OnnxRuntimeBackend } from '../runtime/onnxruntimeBackend.js';
import { PROVIDERS } from '../runtime/providers.js';
import type { Produced } from '../runtime/onnxruntimeTensors.js';

/** Settings that ONNX Runtime is started with. */
export interface StartRequest {
  /** Address of its JavaScript. */
  readonly script: string;
  /** Its WebAssembly, checked. */
  readonly binary: ArrayBuffer;
  readonly threads: number;
}

/** A run, as `Engine.run` has it. Its buffers belong to who runs it; outputs are all made by ONNX Runtime. */
export interface RunRequest {
  readonly session: number;
  readonly buffers: readonly ArrayBuffer[];
  readonly layout: readonly number[];
  readonly texts: ReadonlyArray<readonly string[]>;
}

/** Result of a run. */
export interface RunAnswer {
  readonly outputs: readonly Produced[];
}

/** Runs sessions somewhere. */
export interface Host {
  /** Whether it has failed for good: whatever was open in it is lost. */
  readonly hasFailed: boolean;
  start(request: StartRequest): Promise<void>;
  /** Before anything is started: rejected with `runtime` for a provider that this browser does not have. */
  probe(provider: string): Promise<void>;
  /** The bytes of the model and of its weights are the host's from now on. */
  open(request: OpenRequest, model: ArrayBuffer, weights: readonly ArrayBuffer[]): Promise<Opened>;
  /** The SHA-256 of bytes, whose memory is the host's until then. */
  checksum(bytes: ArrayBuffer): Promise<Checked>;
  close(session: number): void;
  /** One at a time for each session. */
  run(request: RunRequest): Promise<RunAnswer>;
  /** Frees all that it has once it has answered; nothing may be asked of it any more. */
  end(): void;
  /** Fails if it can, as it does not answer: another one may. */
  abandon(): void;
}

/** ONNX Runtime's settings for WebAssembly. */
interface OrtEnvironment {
  readonly wasm: { wasmBinary?: ArrayBuffer; numThreads?: number };
}

/** Interfaces of browsers with providers. */
/** An interface of browsers to hardware. */
interface Accelerator {
  readonly requestAdapter?: () => Promise<object | null>;
}

/** A function returning a vector of 16 bytes: `i32.const 0; i8x16.splat; i8x16.popcnt`. */
const SIMD = [0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11];

/** Runs sessions on the thread that calls it. */
export class LocalHost implements Host {
  readonly hasFailed = false;
  private started: OnnxRuntimeBackend | null = null;

  /** @throws ModelError `unsupported` for a browser without WebAssembly's SIMD, `missing` for a script that is not there */
  async start({ script, binary, threads }: StartRequest): Promise<void> {
    if (!WebAssembly.validate(Uint8Array.from(SIMD))) {
      throw new ModelError('unsupported', "this browser's WebAssembly has no SIMD, which ONNX Runtime needs: update it");
    }
    const ort = await imported(script);
    const { wasm } = ort.env as OrtEnvironment;
    wasm.wasmBinary = binary;
    wasm.numThreads = threads;
    this.started = new OnnxRuntimeBackend(ort, {}, true);
  }

  probe(provider: string): Promise<void> {
    return checkProvider(provider);
  }

  async open(request: OpenRequest, model: ArrayBuffer, weights: readonly ArrayBuffer[]): Promise<Opened> {
    request.weights.forEach((part, index) => {
      const bytes = weights[index];
      if (bytes !== undefined) keepInMemory(part, bytes);
    });
    return this.engine().open(request, model);
  }

  checksum(bytes: ArrayBuffer): Promise<Checked> {
    return checksumHere(bytes);
  }

  close(session: number): void {
    this.engine().close(session);
  }

  async run({ session, buffers, layout, texts }: RunRequest): Promise<RunAnswer> {
    const engine = this.engine();
    const { kept } = await engine.run(session, 0, buffers, layout, texts, false);
    const outputs = engine.produced(kept);
    engine.drop(kept);
    return { outputs };
  }

  end(): void {
    this.started = null;
  }

  abandon(): void {
    // There is one ONNX Runtime on a thread.
  }

  private engine(): OnnxRuntimeBackend {
    if (this.started === null) throw new ModelError('runtime', 'ONNX Runtime was not started');
    return this.started;
  }
}

async function checkProvider(registeredName: string): Promise<void> {
  const wanted = new Map(Object.entries(PROVIDERS)).get(registeredName.toLowerCase())?.browserInterface;
  if (wanted === undefined) return;
  const { navigator = {} } = globalThis as { readonly navigator?: object };
  const found = Reflect.get(navigator, wanted) as Accelerator | undefined;
  if (found === undefined) throw lacks(registeredName);
  if ((await found.requestAdapter?.()) === null) throw lacks(`graphics processor for ${registeredName}`);
}

function lacks(what: string): ModelError {
  return new ModelError('runtime', `this browser has no ${what}: a newer one may, on a page with https`);
}

async function imported(script: string): Promise<OnnxRuntime> {
  try {
    return (await import(/* webpackIgnore: true */ /* @vite-ignore */ script)) as OnnxRuntime;
  } catch (reason) {
    throw new ModelError('missing', `ONNX Runtime's script ${script} cannot be loaded: ${String(reason)}`, { cause: reason });
  }
}
