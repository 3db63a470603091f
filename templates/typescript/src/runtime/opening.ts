// Tries the files of a model on this device until one starts.

import type { Attempt } from './attempt.js';
import { assignmentOf, hasNoNode } from './assignment.js';
import type { Backend, Opened } from './backend.js';
import { platformFiles, type ModelDescriptor, type ModelFile, type Provider, type Settings } from './descriptor.js';
import { isOfProvider, ModelError, toModelError, type ModelErrorCode } from './errors.js';
import type { Fallback } from './observer.js';
import type { LoadOptions, PlacedFile, ProviderAssignment, ProviderProof, Proving } from './options.js';
import { checkVersion, throwIfAborted } from './permitting.js';
import { checkSignature } from './signature.js';
import { sourceOf } from './sources.js';
import { startOf, type Start } from './starting.js';

/** A model that has started. */
export interface OpenModel {
  readonly opened: Opened;
  readonly file: ModelFile;
  readonly provider: Provider;
  /** Settings of the provider. */
  readonly settings: Settings;
  /** Nodes that each provider runs; undefined where ONNX Runtime cannot say. */
  readonly assignment: readonly ProviderAssignment[] | undefined;
  /** Paths of the files that were opened; empty for those in memory. */
  readonly paths: readonly string[];
}

/** The provider that has started in the end, and those that did not. */
export interface Outcome extends Attempt, OpenModel {
  readonly fallbacks: readonly Fallback[];
  /** Verdicts of a load with the option `proof`. */
  readonly proofs: readonly ProviderProof[];
}

/** The option `proof` with what it does: apps without it have none of that code. */
export interface Prover extends Proving {
  open(attempt: Attempt): Promise<Outcome>;
}

export const NO_FILE = 'the package has no file of the model for it';

/**
 * Tries the files of each provider in turn, a session each, and the CPU last.
 *
 * @throws ModelError
 */
export async function openModel(model: ModelDescriptor, backend: Backend, options: LoadOptions): Promise<Outcome> {
  try {
    throwIfAborted(options.signal);
    const about = backend.about();
    checkVersion(model, backend.platform, about.runtimeVersion, options);
    const source = await sourceOf(model, backend, options);
    const attempt = { model, backend, about, options, source };
    const { proof } = options;
    return await (isProver(proof) ? proof.open(attempt) : openFirst(attempt, ...providersOf(attempt)));
  } catch (thrown) {
    throw toModelError(thrown);
  }
}

function isProver(proof: Proving | undefined): proof is Prover {
  return proof !== undefined;
}

/** Opens the model on the first of `providers` that starts. */
export async function openFirst(attempt: Attempt, ...providers: readonly Provider[]): Promise<Outcome> {
  const fallbacks: Fallback[] = [];
  let code: ModelErrorCode = 'runtime';
  for (const provider of providers) {
    const files = filesFor(provider, attempt);
    if (files.length === 0) fallbacks.push({ provider, reason: NO_FILE });
    for (const file of files) {
      const open = await tryToOpen(provider, file, attempt);
      if (!(open instanceof ModelError)) return { ...attempt, ...open, fallbacks, proofs: [] };
      fallbacks.push({ provider, reason: open.message });
      code = open.code;
    }
  }
  const reason = fallbacks[fallbacks.length - 1]?.reason ?? '';
  throw new ModelError(code, `${attempt.model.className} did not start: ${reason}`);
}

/** In the order in which they are tried, the CPU last. */
export function providersOf({ model, backend, options }: Attempt): ReadonlySet<Provider> {
  const packaged = platformFiles(model, backend.platform).providers.map((setup) => setup.provider);
  return new Set([...(options.providers ?? packaged).filter((provider) => provider !== 'cpu'), 'cpu']);
}

/** First the files that were made for this device's chip, then those for any. */
export function filesFor(provider: Provider, { backend, source }: Attempt): readonly ModelFile[] {
  const { chip } = backend.device;
  const files = source.files.filter((file) => file.providers.includes(provider));
  const isForChip = (file: ModelFile): boolean => chip !== '' && file.chips.includes(chip);
  return [...files.filter(isForChip), ...files.filter((file) => file.chips.length === 0)];
}

/** The error when ONNX Runtime cannot start it. Whatever else goes wrong is thrown: it ends the search. */
export async function tryToOpen(provider: Provider, file: ModelFile, attempt: Attempt): Promise<OpenModel | ModelError> {
  throwIfAborted(attempt.options.signal);
  try {
    return await open(provider, file, attempt);
  } catch (thrown) {
    const error = toModelError(thrown);
    if (isOfProvider(error)) return error;
    throw error;
  }
}

async function open(provider: Provider, file: ModelFile, attempt: Attempt): Promise<OpenModel> {
  const { source } = attempt;
  // First, because a provider that cannot start needs no file to be read or downloaded.
  const start = await startOf(provider, file, attempt);
  const placed = await source.place([file, ...file.weights]);
  try {
    return await openPlaced(provider, file, start, placed, attempt);
  } catch (thrown) {
    const error = toModelError(thrown);
    if (error.code !== 'corrupted' || !(await source.discard(placed, error))) throw error;
    // Storage lost what it had: what is downloaded anew was checked a moment ago.
    return openPlaced(provider, file, start, await source.place([file, ...file.weights]), attempt);
  }
}

async function openPlaced(
  provider: Provider,
  file: ModelFile,
  start: Start,
  [placed, ...weights]: readonly PlacedFile[],
  attempt: Attempt,
): Promise<OpenModel> {
  const { backend, source, options } = attempt;
  if (placed === undefined) throw new ModelError('missing', `${file.path} is missing`);
  throwIfAborted(options.signal);
  const opened = await backend.open(
    {
      file: placed.part,
      descriptor: placed.descriptor ?? -1,
      weights: weights.map((each) => each.part),
      provider: start.registeredName,
      providerKeys: Object.keys(start.options),
      providerValues: Object.values(start.options),
      settingKeys: Object.keys(file.settings),
      settingValues: Object.values(file.settings),
      threads: options.threads ?? 0,
      spinning: options.spinning ?? false,
      notes: source.notes,
      verify: options.verify ?? 'once',
    },
    placed.bytes,
  );
  const assignment = assignmentOf(opened, attempt, provider);
  checkOpened(opened, assignment, provider, attempt);
  const paths = [placed, ...weights].map(({ part }) => part.path);
  return { opened, file, provider, settings: start.options, assignment, paths };
}

/**
 * A session that nobody gets is closed: loading was cancelled meanwhile, the file is another model, or the provider took
 * nothing of it.
 */
function checkOpened(
  opened: Opened,
  assignment: OpenModel['assignment'],
  provider: Provider,
  { model, backend, options, source }: Attempt,
): void {
  try {
    throwIfAborted(options.signal);
    if (source.isOwn) checkSignature(model, opened);
    if (hasNoNode(provider, assignment)) throw new ModelError('runtime', 'took no node of the model');
  } catch (error) {
    backend.close(opened.session);
    throw error;
  }
}
