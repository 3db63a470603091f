// What must hold before a model is loaded.

import type { Platform } from './backend.js';
import { platformFiles, type ModelDescriptor } from './descriptor.js';
import { ModelError } from './errors.js';
import type { LoadOptions } from './options.js';

const MOST_THREADS = 256;

const PROVIDERS: ReadonlySet<string> = new Set(['coreml', 'xnnpack', 'nnapi', 'qnn', 'webgpu', 'cpu']);

/** @throws ModelError `bad-options` */
export function checkOptions({ threads = 0, providers = [], providerOptions = {} }: LoadOptions): void {
  if (!Number.isInteger(threads) || threads < 0 || threads > MOST_THREADS) {
    throw new ModelError(
      'bad-options',
      `threads is ${String(threads)}, which is not one of 0 to ${String(MOST_THREADS)}`,
    );
  }
  for (const name of [...providers, ...Object.keys(providerOptions)]) {
    if (PROVIDERS.has(name)) continue;
    throw new ModelError('bad-options', `unknown provider '${name}': there are ${[...PROVIDERS].join(', ')}`);
  }
}

/**
 * Another ONNX Runtime than the one that the files were made and tested for may read them wrongly. A browser's is the
 * app's own choice.
 *
 * @throws ModelError `runtime-version`
 */
export function checkVersion(
  model: ModelDescriptor,
  platform: Platform,
  found: string,
  { allowOtherRuntime = false }: LoadOptions,
): void {
  const { runtimeVersion } = platformFiles(model, platform);
  if (platform === 'web' || allowOtherRuntime || [found, ''].includes(runtimeVersion)) return;
  throw new ModelError(
    'runtime-version',
    `${model.className} needs ONNX Runtime ${runtimeVersion}, the app has ${found}: another dependency brought that ` +
      'one. Keep one of the two versions for the whole app, or build this package with a runtime that has a name of ' +
      'its own. Pass allowOtherRuntime: true to run on what there is, untested',
  );
}

/** @throws ModelError `cancelled` */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw new ModelError('cancelled', 'the call was cancelled');
}
