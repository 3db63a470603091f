// Options for loading and running a model.

import type { ModelFile, PackagedFile, Provider, Settings } from './descriptor.js';
import type { Part, Verify } from './backend.js';
import type { ModelError } from './errors.js';
import type { ModelObserver } from './observer.js';
import type { Policies } from './policies.js';

/**
 * Where the files of a model come from.
 *
 * - `'bundled'`: from the app, as the package brought them.
 * - `url`: from a folder on a server, an `https:` address that ends in `/`: there each of the package's own files lies
 *   under its SHA-256 in small hexadecimal digits, without a suffix. They are downloaded once, checked, and kept.
 * - `folder`: from a folder of the same layout on the device, which the app owns. A browser has none.
 * - `path`: one file of the app's own, whatever its numbers: it must have this model's inputs and outputs.
 * - `buffer`: such a file in memory. It is copied, and may be changed or freed once the model is loaded.
 * - `descriptor`: such a file, or a part of one, by a descriptor of this process, as native code of the app opens it. It
 *   is duplicated when `load` is called, and may be closed once the model is loaded. A browser has none.
 *
 * `sha256`, in hexadecimal, is what the app's own file must have.
 */
export type Source =
  | 'bundled'
  | { readonly url: string }
  | { readonly folder: string }
  | { readonly path: string; readonly sha256?: string }
  | { readonly buffer: ArrayBuffer | ArrayBufferView; readonly sha256?: string }
  | { readonly descriptor: number; readonly offset?: number; readonly size?: number; readonly sha256?: string };

/** Progress of a download. */
export interface Progress {
  readonly loadedBytes: number;
  /** Size of all files that are needed to start. */
  readonly totalBytes: number;
}

/** How providers are proved, as `new Proof()` of this package says it. */
export interface Proving {
  readonly limit: number;
  readonly inBackground: boolean;
}

/** A verdict on a provider on this device. */
export interface ProviderProof {
  readonly provider: Provider;
  readonly isProved: boolean;
  /** Why it is left out; empty for one that is proved. */
  readonly reason: string;
  /** The least seconds of its runs of the first sample, and of the CPU's. Absent where they were not measured. */
  readonly seconds?: number | undefined;
  readonly cpuSeconds?: number | undefined;
}

/** Options for loading and running a model. Omitted options have the package's defaults. */
export interface LoadOptions {
  /** Where its files come from; `'bundled'` by default. */
  readonly source?: Source;
  /**
   * Tried in this order, `cpu` after all others; the first one that starts runs the model, or with `proof` the first one
   * that is proved on this device.
   */
  readonly providers?: readonly Provider[];
  /** Asks for proof of providers on this device, in the package's order or the app's: `new Proof()`. */
  readonly proof?: Proving;
  /** Settings by provider, under ONNX Runtime's names for them. They override all others. The CPU has none. */
  readonly providerOptions?: Readonly<Partial<Record<Provider, Settings>>>;
  /**
   * Threads per run, at most 256, whatever the provider: the CPU runs what others leave. By default, or with 0, one for
   * each big core, four at most, which all models of the app share.
   */
  readonly threads?: number;
  /**
   * Whether threads spin while they wait for work; false by default. It takes energy, and time of other threads, for
   * somewhat shorter runs.
   */
  readonly spinning?: boolean;
  /** Calls of `run` that may be under way or wait for their turn, 64 by default: one more is rejected with `busy`. */
  readonly queue?: number;
  /** Is told of loading, runs and disposal; without one no clock is read. */
  readonly observer?: ModelObserver;
  /** Actions that the model takes by itself when a provider fails or memory is short. */
  readonly policies?: Policies;
  /** How the files of a model are checked when it is loaded; `'once'` by default. */
  readonly verify?: Verify;
  /** Aborts loading, which is then rejected with `cancelled`. */
  readonly signal?: AbortSignal;
  /** Called while files are downloaded. */
  readonly onProgress?: (progress: Progress) => void;
  /** Run on any version of ONNX Runtime that the app has, even one not tested with this package. */
  readonly allowOtherRuntime?: boolean;
}

/** Options of a run. */
export interface RunOptions<TargetsOf> {
  /** Memory for outputs: they are written there, and are the `data` of the result. */
  readonly into?: TargetsOf;
}

/** Options of an asynchronous run. */
export interface AsyncRunOptions<TargetsOf> extends RunOptions<TargetsOf> {
  /** Ends the run at its next operator; it is then rejected with `cancelled`. */
  readonly signal?: AbortSignal;
}

/** Identifies a model. */
export interface Info {
  /** Its name in the package's configuration. */
  readonly name: string;
  /** Version of the package that contains it. */
  readonly version: string;
  /** Name of the file that was opened, or the path of the app's own. Providers may have separate files. */
  readonly file: string;
  /** SHA-256 of that file, in hexadecimal; empty for a file of the app's own whose SHA-256 was not given. */
  readonly sha256: string;
  /** Its size, including weights in separate files. */
  readonly sizeBytes: number;
  /** Version of the ONNX Runtime in the app. */
  readonly onnxRuntimeVersion: string;
  /** Verdicts on the providers that the load has looked at, in their order; empty without the option `proof`. */
  readonly proofs: readonly ProviderProof[];
}

/** The share of a model that a provider runs. */
export interface ProviderAssignment {
  readonly provider: Provider;
  /** Number of nodes of the graph. */
  readonly nodes: number;
  /** Multiplications with additions in these nodes, as far as the model's file says. */
  readonly macs: number;
}

/** A file that is ready to be opened or read. */
export interface PlacedFile {
  readonly part: Part;
  /** Descriptor that it is read by instead of its path; absent where it has a path or is in memory. */
  readonly descriptor?: number;
  /** Its bytes where they are in memory: `part.offset` and `part.size` say which of them. */
  readonly bytes: ArrayBuffer | null;
}

/** The files of a model, wherever they come from. */
export interface ModelSource {
  /** The files to choose from, best first: the platform's own, or the one that the app gave. */
  readonly files: readonly ModelFile[];
  /** Whether the app gave it, so that inputs and outputs must be compared. */
  readonly isOwn: boolean;
  /** Folder for notes of files that were checked already; empty to check at every load. */
  readonly notes: string;
  /**
   * Makes files ready, downloading them where need be, in the order in which they were asked for. Files of samples are
   * the package's own, whatever the source of the model.
   *
   * @throws ModelError `missing`, `corrupted`, `network`, `no-space`, `cancelled`
   */
  place(files: readonly PackagedFile[]): Promise<readonly PlacedFile[]>;
  /**
   * Removes those downloads among `placed` that `error` says are not what was downloaded, so that `place` fetches them
   * again. False when there are none.
   */
  discard(placed: readonly PlacedFile[], error: ModelError): Promise<boolean>;
}
