// What runs models: native code in an app, ONNX Runtime's JavaScript API in a browser and in tests.

import { ModelError } from './errors.js';

/**
 * How the files of a model are checked when it is loaded.
 *
 * - `once`: the whole file by its SHA-256 once after it was installed, updated or replaced; its size and its first and
 *   last 64 KiB at every load.
 * - `always`: the whole file by its SHA-256 at every load. Only this finds changes within a file that no program
 *   has written to, as on failing storage.
 */
export type Verify = 'once' | 'always';

/** Facts about the platform. */
export interface About {
  /** Version of the ONNX Runtime that is loaded: `1.2.3`. */
  readonly runtimeVersion: string;
  /** Folder of the package's files in an iOS app; empty elsewhere. */
  readonly bundle: string;
  /** Folder of this package's own that is written to; empty where nothing can be. */
  readonly cache: string;
  /** Threads of a run unless the app asks for another number: one for each big core, four at most. */
  readonly threads: number;
}

/** A file, or a part of one. */
export interface Part {
  /** Name of a file of weights in an ONNX model; empty for the model itself. */
  readonly name: string;
  /** Absolute; empty for bytes that are handed over. */
  readonly path: string;
  /** Offset of the first byte in that file. */
  readonly offset: number;
  /** In bytes; -1 for all up to the end. */
  readonly size: number;
  /** In hexadecimal; empty for bytes that are not checked. */
  readonly sha256: string;
  /** SHA-256 of its first and last 64 KiB, or of all of a part that has no more; empty where nobody knows it. */
  readonly endsSha256: string;
}

/** A model to open, with settings. */
export interface OpenRequest {
  readonly file: Part;
  /** Descriptor that `file` is read by instead of its path, duplicated when `open` is called; -1 for none. */
  readonly descriptor: number;
  readonly weights: readonly Part[];
  /** ONNX Runtime's name of the provider; empty for the CPU. */
  readonly provider: string;
  readonly providerKeys: readonly string[];
  readonly providerValues: readonly string[];
  /** Session configuration entries. */
  readonly settingKeys: readonly string[];
  readonly settingValues: readonly string[];
  /** Threads of a run, for operators of the CPU; 0 for the default ones, which all models share unless they spin. */
  readonly threads: number;
  /** Whether threads spin while they wait for work. */
  readonly spinning: boolean;
  /** Folder for notes of files that were checked already; empty to check all of them at every load. */
  readonly notes: string;
  /** `always` to check all of them whatever the notes say; else `once`. */
  readonly verify: Verify;
}

/** A tensor as the opened file has it. */
export interface TensorInfo {
  readonly name: string;
  /** `float32`, `int64`, `string` and so on. */
  readonly type: string;
  /** -1 for a size that nobody knows. */
  readonly shape: readonly number[];
}

/** The share of an open model that a provider runs. */
export interface AssignedInfo {
  /** ONNX Runtime's name of the provider: `CPUExecutionProvider`. */
  readonly provider: string;
  readonly nodes: number;
  readonly macs: number;
  /** Nodes with MACs. */
  readonly macNodes: number;
}

/** An open model. */
export interface Opened {
  readonly session: number;
  readonly inputs: readonly TensorInfo[];
  readonly outputs: readonly TensorInfo[];
  /** Size of the model and its weights. */
  readonly sizeBytes: number;
  /** Null where ONNX Runtime cannot say. */
  readonly assignment: readonly AssignedInfo[] | null;
}

/** Result of a run, beside the values in the caller's memory. */
export interface Ran {
  /** Names the outputs that ONNX Runtime made, until `drop`; 0 when there are none. */
  readonly kept: number;
  /** Shapes of every output, in their order. */
  readonly shapes: readonly (readonly number[])[];
  /** The values of every output of strings, nothing for all others. */
  readonly texts: readonly (readonly string[])[];
  /** Seconds for which it waited for its turn, and seconds that it took; both 0 unless somebody asked. */
  readonly queued: number;
  readonly duration: number;
}

/** Where the bytes of a packaged file lie: the file, and the offset of the first one in it. */
export interface Place {
  readonly path: string;
  readonly offset: number;
}

/** Facts about the device. */
export interface Device {
  /** Name of the chip, as in `Build.SOC_MODEL`; empty where nobody says. */
  readonly chip: string;
  /** API level of Android; 0 elsewhere. */
  readonly apiLevel: number;
}

/** Where models run. */
export type Platform = 'android' | 'ios' | 'web' | 'node';

/**
 * Runs models. Tensors are in the order of `Opened.inputs` and `Opened.outputs`; what is thrown, or what promises are
 * rejected with, has a message of the form `[code] words`, where the code is a `ModelErrorCode`.
 */
export interface Engine {
  about(): About;
  /** Whether ONNX Runtime was built with a provider, by the name with which it is registered. */
  hasProvider?(name: string): boolean;
  /**
   * Opens `request.file`, or `model` when it is not null: there `file.offset` and `file.size` say which of its bytes,
   * which are copied.
   */
  open(request: OpenRequest, model: ArrayBuffer | null): Promise<Opened>;
  /** Runs that are under way end by themselves; memory is freed after the last. */
  close(session: number): void;
  /**
   * Runs a session; `call` names the run for `cancel`. Buffers over native memory are read and written in place;
   * of others inputs are copied when this is called, and outputs before the promise is resolved.
   *
   * `buffers` has one for each input, then one for each output: an empty one for strings, and for outputs that ONNX
   * Runtime is to make. `layout` has for each of them byteOffset, byteLength, rank and sizes; byteLength -1 and rank 0
   * for an output that ONNX Runtime is to make. `texts` has the values of each input of strings, in their order.
   * `isTimed` asks for times.
   */
  run(
    session: number,
    call: number,
    buffers: readonly ArrayBuffer[],
    layout: readonly number[],
    texts: readonly (readonly string[])[],
    isTimed: boolean,
  ): Promise<Ran>;
  /** `run` on the caller's thread, which reads and writes every buffer where it lies. */
  runSync(
    session: number,
    buffers: readonly ArrayBuffer[],
    layout: readonly number[],
    texts: readonly (readonly string[])[],
  ): Ran;
  /**
   * Runs a second session of the same model `runs` times, as `run` does, while ONNX Runtime writes a trace: a new file
   * whose path begins with `prefix`. Gives its path.
   */
  profile(
    session: number,
    prefix: string,
    runs: number,
    buffers: readonly ArrayBuffer[],
    layout: readonly number[],
    texts: readonly (readonly string[])[],
  ): Promise<string>;
  /**
   * An object with a function `run` for other threads of JavaScript. It takes and gives tensors by the names of `inputs` and
   * `outputs`, which are in the order of the session's.
   */
  worklet(session: number, inputs: readonly string[], outputs: readonly string[]): object;
  /** Bytes of this process that are in memory; -1 where nobody tells. */
  residentBytes(): number;
  /** Whether the device is so hot that the system slows it down. */
  isHot(): boolean;
  /** Ends a run, which is rejected with `[cancelled]`. Does nothing when it has ended. */
  cancel(call: number): void;
  /** A new buffer, all zero: over native memory, or over the engine's own where JavaScript has no other. */
  allocate(sizeBytes: number): ArrayBuffer;
  /** Whether a buffer lies in native memory. Missing where JavaScript has none. */
  readonly isNative?: (buffer: ArrayBuffer) => boolean;
  /** Copies an output that ONNX Runtime made. */
  take(kept: number, output: number, into: ArrayBuffer): void;
  /** Frees the outputs of a run. */
  drop(kept: number): void;
  /** -1 when there is no such file. */
  fileSize(path: string): number;
  /** Fills `into` from a file; unless `sha256` is empty, the bytes must have it. */
  readFile(path: string, offset: number, into: ArrayBuffer, sha256: string): Promise<void>;
  /** Makes the file and its folders, cuts it at `offset`, and appends `bytes`. */
  writePart(path: string, offset: number, bytes: ArrayBuffer): Promise<void>;
  /** Checks a finished file and moves it to its place; a wrong one is removed: `[corrupted]`. */
  finishPart(part: string, path: string, size: number, sha256: string): Promise<void>;
  removeFile(path: string): Promise<void>;
  /** Makes a folder, and removes those beside it that are named `<64 hexadecimal digits>-...` and not in `keep`. */
  makeFolder(path: string, keep: readonly string[]): Promise<void>;
}

/** Bytes and their SHA-256, in hexadecimal. */
export interface Checked {
  readonly sha256: string;
  readonly bytes: ArrayBuffer;
}

/** Tells the SHA-256 of bytes. Their memory may have moved: what is returned has them. */
export type Checksum = (bytes: ArrayBuffer) => Promise<Checked>;

/** Pieces of files, by the SHA-256 of the file, that a browser keeps between visits. What is not to be kept is fetched again. */
export interface KeptFiles {
  /** Reads the piece at `offset` of the file if it is there and as long as `into`; its ETag then. */
  read(sha256: string, offset: number, into: Uint8Array): Promise<string | undefined>;
  /** Keeps the piece at `offset` of a file that came with an ETag; that is empty when there was none. */
  write(sha256: string, offset: number, piece: Uint8Array<ArrayBuffer>, tag: string): Promise<void>;
  /** Removes the pieces of a file that are not what was written; whether there were any. */
  removeDamaged(sha256: string): Promise<boolean>;
  /** Removes all pieces of a file. */
  remove(sha256: string): Promise<void>;
  /** Removes all files but those. */
  retain(sha256s: ReadonlySet<string>): Promise<void>;
}

/** Whether somebody sees the app or the page: a system may end one that nobody sees. */
export interface Presence {
  isAway(): boolean;
  /** Calls `listener` at each change, until the function that this returns is called. */
  onChange(listener: (isAway: boolean) => void): () => void;
}

/** An engine, and what only the platform knows. */
export interface Backend extends Engine {
  readonly platform: Platform;
  readonly device: Device;
  /** Name of the package, where several packages keep things in one place. */
  readonly packageName?: string;
  /** Version of the system with its drivers; missing in browsers. */
  readonly system?: () => string;
  /** Missing in browsers. */
  readonly presence?: Presence;
  /** Null where files are kept in folders, or not at all. */
  readonly kept: KeptFiles | null;
  /** Computes checksums of files in memory elsewhere than on the thread that asks for them. */
  readonly checksum?: Checksum;
  /** Rejected with `[runtime]` for a provider, as ONNX Runtime names it, that is not there, whatever the model. */
  readonly probe?: (provider: string) => Promise<void>;
  /** Whether what hosted an open session has failed since: it runs nothing any more. */
  readonly isLost?: (session: number) => boolean;
  /** Gives up the thread that runs models, as it does not answer: later ones get another. Missing where each has its own. */
  readonly abandon?: () => void;
  /** Where the file `path` of this package lies. `size` is what it must have, in bytes; `url` is its address on a page. */
  locate(path: string, size: number, url?: string): Promise<Place>;
  /** Calls `listener` when the system warns that memory is short, until the function that this returns is called. */
  onMemoryPressure(listener: () => void): () => void;
}

/** `inner` with some methods of `own` in the place of its own. */
export function replaced(inner: Backend, own: Partial<Backend>): Backend {
  return new Proxy(inner, {
    get: (target, name): unknown => {
      const other: unknown = Reflect.get(own, name);
      if (other !== undefined) return other;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

type Make = () => Backend;

let made: Backend | undefined;
let makeDefault: Make | undefined;
let makeChosen: Make | undefined;

/** Says what runs models unless something else is chosen. It is made when the first model is loaded. */
export function provideBackend(make: Make): void {
  makeDefault = make;
  if (makeChosen === undefined) made = undefined;
}

/** Chooses what runs the models that are loaded from now on. */
export function chooseBackend(make: Make): void {
  makeChosen = make;
  made = undefined;
}

/**
 * The engine that runs models.
 *
 * @throws ModelError `unsupported` where nothing was provided or chosen, and what making it throws
 */
export function currentBackend(): Backend {
  if (made !== undefined) return made;
  const make = makeChosen ?? makeDefault;
  if (make === undefined) {
    throw new ModelError(
      'unsupported',
      'nothing here runs models: hand onnxruntime-web, or under Node onnxruntime-node, to setOnnxRuntime() of this ' +
        "package's /onnxruntime first",
    );
  }
  made = make();
  return made;
}
