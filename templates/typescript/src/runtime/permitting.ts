// What must hold before a model is loaded.

import type { Platform, Verify } from './backend.js';
import { platformFiles, type ModelDescriptor } from './descriptor.js';
import { ModelError } from './errors.js';
import type { LoadOptions } from './options.js';
import { policiesOf } from './policies.js';
import { PROVIDERS } from './providers.js';

const MOST_THREADS = 256;

const KNOWN: ReadonlySet<string> = new Set(Object.keys(PROVIDERS));

const POLICIES: ReadonlySet<string> = new Set(Object.keys(policiesOf()));

const VERIFY: ReadonlySet<string> = new Set<Verify>(['once', 'always']);

/** A type that says of each option that there is one: none is forgotten. */
const OPTIONS: Readonly<Record<keyof LoadOptions, true>> = {
  source: true,
  providers: true,
  proof: true,
  providerOptions: true,
  threads: true,
  spinning: true,
  queue: true,
  observer: true,
  policies: true,
  verify: true,
  signal: true,
  onProgress: true,
  allowOtherRuntime: true,
};

/** @throws ModelError `bad-options` */
export function checkOptions(options: unknown): asserts options is LoadOptions {
  if (typeof options !== 'object' || options === null) throw bad(`options are ${String(options)}, not an object`);
  for (const name of Object.keys(options)) {
    if (Object.keys(OPTIONS).includes(name)) continue;
    throw bad(`unknown option '${name}': there are ${Object.keys(OPTIONS).join(', ')}`);
  }
  const given: Readonly<Record<string, unknown>> = { ...options };
  const { threads = 0, spinning = false, queue = 1, providers = [], providerOptions = {}, verify = 'once' } = given;
  if (typeof threads !== 'number' || !Number.isInteger(threads) || threads < 0 || threads > MOST_THREADS) {
    throw bad(`threads is ${shown(threads)}, which is not one of 0 to ${String(MOST_THREADS)}`);
  }
  if (typeof spinning !== 'boolean') throw bad(`spinning is ${shown(spinning)}, which is neither true nor false`);
  if (typeof queue !== 'number' || !Number.isInteger(queue) || queue < 1) {
    throw bad(`queue is ${shown(queue)}, which is not a number of calls from 1 on`);
  }
  checkObserver(given['observer']);
  checkPolicies(given['policies']);
  checkProof(given['proof']);
  if (typeof verify !== 'string' || !VERIFY.has(verify)) {
    throw bad(`verify is ${shown(verify)}, which is not one of ${[...VERIFY].join(', ')}`);
  }
  if (!Array.isArray(providers)) throw bad(`providers is ${shown(providers)}, which is not an array`);
  if (typeof providerOptions !== 'object' || providerOptions === null) {
    throw bad(`providerOptions is ${shown(providerOptions)}, which is not an object`);
  }
  for (const name of [...(providers as readonly unknown[]), ...Object.keys(providerOptions)]) {
    if (typeof name === 'string' && KNOWN.has(name)) continue;
    throw bad(`unknown provider ${shown(name)}: there are ${[...KNOWN].join(', ')}`);
  }
}

function checkObserver(observer: unknown): void {
  if (observer === undefined || (typeof observer === 'object' && observer !== null)) return;
  throw bad(`observer is ${shown(observer)}, which is not an object`);
}

function checkPolicies(policies: unknown): void {
  if (policies === undefined) return;
  if (typeof policies !== 'object' || policies === null) throw bad(`policies is ${shown(policies)}, which is not an object`);
  for (const [name, value] of Object.entries(policies)) {
    if (!POLICIES.has(name)) throw bad(`unknown policy '${name}': there are ${[...POLICIES].join(', ')}`);
    if (typeof value !== 'boolean') throw bad(`policies.${name} is ${shown(value)}, which is neither true nor false`);
  }
}

/** Apps hand an object of the class over, whose code is then in the app. */
function checkProof(proof: unknown): void {
  if (proof === undefined || (typeof proof === 'object' && proof !== null && 'open' in proof)) return;
  throw bad(`proof is ${shown(proof)}, which \`new Proof()\` has not made`);
}

function shown(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : String(value);
}

function bad(message: string): ModelError {
  return new ModelError('bad-options', message);
}

/**
 * An older ONNX Runtime than those that the files were tested with may read them wrongly. A browser's is the
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
  const { runtimeVersion, oldestRuntime } = platformFiles(model, platform);
  if (platform === 'web' || allowOtherRuntime || [found, ''].includes(runtimeVersion)) return;
  if (oldestRuntime !== '' && isSameOrLater(found, oldestRuntime)) return;
  throw new ModelError(
    'runtime-version',
    `${model.className} needs ONNX Runtime ${oldestRuntime === '' ? runtimeVersion : `${oldestRuntime} or later`}, the app has ${found}: another dependency brought that ` +
      'one. Keep one of the two versions for the whole app, or build this package with a runtime that has a name of ' +
      'its own. Pass allowOtherRuntime: true to run on what there is, untested',
  );
}

/** A version with another first number may read files in another way. */
function isSameOrLater(found: string, oldest: string): boolean {
  const [major, minor = 0, patch = 0] = found.split('.').map(Number);
  const [oldestMajor, oldestMinor = 0, oldestPatch = 0] = oldest.split('.').map(Number);
  return major === oldestMajor && (minor > oldestMinor || (minor === oldestMinor && patch >= oldestPatch));
}

/** `waited`, or a rejection with `cancelled` as soon as `signal` is aborted. */
export async function abortable<Value>(waited: Promise<Value>, signal: AbortSignal | undefined): Promise<Value> {
  if (signal === undefined) return waited;
  let leave = (): void => undefined;
  const left = new Promise<never>((_, reject) => {
    leave = () => {
      reject(cancelled());
    };
    signal.addEventListener('abort', leave);
    if (signal.aborted) leave();
  });
  try {
    return await Promise.race([waited, left]);
  } finally {
    signal.removeEventListener('abort', leave);
  }
}

/** @throws ModelError `cancelled` */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw cancelled();
}

function cancelled(): ModelError {
  return new ModelError('cancelled', 'the call was cancelled');
}
