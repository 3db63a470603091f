// What a generated file says of its model.

import type { Platform } from './backend.js';
import { ModelError } from './errors.js';
import type { Provider } from './providers.js';
import type { ElementType } from './tensor.js';

export type { Provider } from './providers.js';

/** Settings under ONNX Runtime's names for them. */
export type Settings = Readonly<Record<string, string>>;

/** A tensor of a model: `null` for a size that is open. */
export interface TensorSpec<
  Type extends ElementType = ElementType,
  Sizes extends readonly (number | null)[] = readonly (number | null)[],
> {
  /** In the model. */
  readonly name: string;
  readonly type: Type;
  readonly shape: Sizes;
}

/** Tensors by the names that app code has for them, in the model's order. */
export type TensorSpecs = Readonly<Record<string, TensorSpec>>;

/** A file of the package, and the bytes that it must have. */
export interface PackagedFile {
  /** Its name: unique in the package, without a folder. */
  readonly path: string;
  readonly sha256: string;
  /** SHA-256 of its first and last 64 KiB, or of all of a file that has no more. */
  readonly endsSha256: string;
  readonly sizeBytes: number;
  /** Its address on a web page; absent in packages for apps. */
  readonly url?: () => string;
}

/** A file with weights. */
export interface WeightsFile extends PackagedFile {
  /** Name of the file in the model. */
  readonly name: string;
}

/** A file of a model, and how ONNX Runtime opens it. */
export interface ModelFile extends PackagedFile {
  readonly providers: readonly Provider[];
  /** The number of nodes with multiply-accumulates that the build saw a provider take; absent where it is not known. */
  readonly nodes?: Readonly<Partial<Record<Provider, number>>>;
  /** Chip that the file was compiled for, as in `Build.SOC_MODEL`; empty for any. */
  readonly chips: readonly string[];
  /** Session configuration entries that this file needs. */
  readonly settings: Settings;
  /** Files with weights that are not in this one. */
  readonly weights: readonly WeightsFile[];
  /** Whether it computes with 16-bit floats. */
  readonly isFloat16: boolean;
}

/** A file for any chip, without settings and weights of its own. */
export const PLAIN_FILE: Pick<ModelFile, 'chips' | 'settings' | 'weights' | 'isFloat16'> = {
  chips: [],
  settings: {},
  weights: [],
  isFloat16: false,
};

/** A provider as the package was configured for it. */
export interface ProviderSetup {
  readonly provider: Provider;
  /** ONNX Runtime's name of the provider. */
  readonly registeredName: string;
  /** ONNX Runtime's name when it says which nodes it took: `CPUExecutionProvider`. */
  readonly executionProvider: string;
  /** Whether ONNX Runtime does not record the nodes that it lays out anew for this provider. */
  readonly hidesNodes: boolean;
  readonly options: Settings;
}

/** Setup of a package for a platform. */
export interface PlatformSetup {
  /** The ONNX Runtime that files were made for: `1.2.3`; empty where nobody knows. */
  readonly runtimeVersion: string;
  /** The oldest one that every file loads in: later ones may run them, too. Empty where only `runtimeVersion` may. */
  readonly oldestRuntime: string;
  /** In the order in which they are tried, without the CPU. */
  readonly providers: readonly ProviderSetup[];
  /** Providers that are tried only where the app asks for them. */
  readonly offered?: readonly ProviderSetup[];
}

/** Files of a model for a platform. */
export interface PlatformFiles extends PlatformSetup {
  /** Best first. */
  readonly files: readonly ModelFile[];
}

/** Where the values of a golden tensor lie, little-endian; fewer bytes than its shape needs are a recipe for them. */
export interface GoldenTensor {
  /** In the model. */
  readonly name: string;
  readonly offset: number;
  readonly sizeBytes: number;
  readonly shape: readonly number[];
}

/** Inputs of a test, and the outputs that it must have. */
export interface GoldenSample {
  readonly inputs: readonly GoldenTensor[];
  readonly outputs: readonly GoldenTensor[];
}

/** How far an output may be off: by `atol + rtol * scale`. */
export interface Tolerance {
  readonly output: string;
  readonly rtol: number;
  readonly atol: number;
  /** The largest expected value of all samples, and 1 at least where the range of the output is known. */
  readonly scale: number;
  /** How many values may differ altogether. */
  readonly mismatches: number;
}

/** A file of the model that samples are for. */
export interface TestedFile {
  readonly path: string;
  /** Values of outputs without one must be equal. */
  readonly tolerances: readonly Tolerance[];
}

/** A file with samples, and the files of the model that they are for. */
export interface Golden {
  readonly file: PackagedFile;
  readonly tested: readonly TestedFile[];
  readonly samples: readonly GoldenSample[];
}

/** A model of a package. */
export interface ModelDescriptor {
  /** Name of the model in app code. */
  readonly className: string;
  readonly name: string;
  /** Version of the package. */
  readonly version: string;
  readonly inputs: TensorSpecs;
  readonly outputs: TensorSpecs;
  /** Keys of outputs that are written straight to memory of the app: their shape is known before a run. */
  readonly pinned: readonly string[];
  readonly platforms: Readonly<Partial<Record<Platform, PlatformFiles>>>;
  readonly golden: readonly Golden[];
  /** Whether its files are those of a release that an updater has downloaded. */
  readonly isReleased?: boolean;
}

/**
 * Files for a platform. A package for apps has no files for the web: there it opens those for the CPU of any
 * Android device.
 *
 * @throws ModelError `unsupported`
 */
export function platformFiles({ className, platforms }: ModelDescriptor, platform: Platform): PlatformFiles {
  const own = platforms[platform];
  if (own !== undefined) return own;
  const { android } = platforms;
  if (platform !== 'web' || android === undefined) {
    throw new ModelError('unsupported', `the package has no files of ${className} for ${platform}`);
  }
  const { files, ...setup } = android;
  return { ...setup, providers: [], files: files.filter(isForAnyCpu) };
}

function isForAnyCpu(file: ModelFile): boolean {
  return file.providers.includes('cpu') && file.chips.length === 0;
}
