// Loads models of a package.

import { currentBackend, type Backend } from './backend.js';
import type { ModelDescriptor } from './descriptor.js';
import { observeLoad, type Observed } from './observing.js';
import { openModel, type Outcome } from './opening.js';
import type { LoadOptions } from './options.js';
import { checkOptions } from './permitting.js';
import { PlainModel } from './plainModel.js';

/** A model of this package, before it is loaded. */
export interface ModelDefinition<Loaded> {
  /** The files that the package has of it, their sizes and checksums. */
  readonly descriptor: ModelDescriptor;
  /**
   * Loads the model, away from the JavaScript thread.
   *
   * @throws ModelError: a file is missing or not the right one, no provider can run the model, the app has another ONNX
   * Runtime, a download fails, or `options.signal` was aborted
   */
  readonly load: (options?: LoadOptions) => Promise<Loaded>;
}

/** Loads a model on what runs models here. */
export async function loadModel<Inputs extends object, Outputs extends object>(
  descriptor: ModelDescriptor,
  options: LoadOptions = {},
): Promise<PlainModel<Inputs, Outputs>> {
  return loadAs(PlainModel<Inputs, Outputs>, descriptor, options);
}

/** Loads a model as an object of a class of its own. */
export async function loadAs<Loaded extends Observed>(
  Loaded: new (outcome: Outcome) => Loaded,
  descriptor: ModelDescriptor,
  options: LoadOptions = {},
): Promise<Loaded> {
  checkOptions(options);
  const backend = currentBackend();
  const loading = open(Loaded, descriptor, backend, options);
  const { observer } = options;
  return observer === undefined ? loading : observeLoad(observer, descriptor.name, loading, options, backend);
}

async function open<Loaded>(
  Loaded: new (outcome: Outcome) => Loaded,
  descriptor: ModelDescriptor,
  backend: Backend,
  options: LoadOptions,
): Promise<Loaded> {
  const outcome = await openModel(descriptor, backend, options);
  try {
    return new Loaded(outcome);
  } catch (error) {
    outcome.backend.close(outcome.opened.session);
    throw error;
  }
}
