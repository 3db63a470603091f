// Tries a release before any load opens it.

import type { Backend } from '../backend.js';
import type { ModelDescriptor, Provider } from '../descriptor.js';
import { countOf, newArray, isNumberType } from '../elements.js';
import { ModelError, toModelError } from '../errors.js';
import { openModel, type Outcome } from '../opening.js';
import type { Source } from '../options.js';
import { PlainModel } from '../plainModel.js';
import { testModel } from '../selftest.js';
import { sourceOf } from '../sources.js';
import type { Fitting } from './choosing.js';
import type { UpdatePlatform } from './platform.js';
import { goldenOf, releaseOf } from './releases.js';

/** Means of a trial of a release. */
export interface Trial {
  readonly model: ModelDescriptor;
  /** Runs the app's own models. */
  readonly backend: Backend;
  readonly platform: UpdatePlatform;
  readonly providers: readonly Provider[];
  /** Where the app's own samples are. */
  readonly fallback: Source;
}

type Inputs = Readonly<Record<string, unknown>>;

/**
 * Opens a release and runs it: on its samples, whose outputs are compared, or else on the package's, or on zeros.
 *
 * @throws ModelError: `bad-model` for other outputs, and what opening and running a model throws
 */
export async function tryRelease(trial: Trial, fitting: Fitting): Promise<void> {
  const { model, platform, providers } = trial;
  const { backend, source } = platform.opening();
  const released = releaseOf(model, backend, fitting);
  const golden = await goldenOf(released, fitting.files, platform).catch((reason: unknown) => {
    const error = toModelError(reason);
    throw error.code === 'runtime' ? new ModelError('bad-model', `its samples cannot be read: ${error.message}`) : error;
  });
  // Which ONNX Runtime the app may have is asked at each load.
  const outcome = await openModel({ ...released, golden }, backend, { source, providers, allowOtherRuntime: true });
  const opened = new PlainModel<Inputs, Inputs>(outcome);
  try {
    const test = await opened.selfTest();
    if (test.outputs.length === 0) await warmUp(trial, outcome, opened);
    else if (!test.passed) throw new ModelError('bad-model', test.toString());
  } finally {
    opened.dispose();
  }
}

/** One run, whose numbers nobody knows. */
async function warmUp({ model, backend, fallback }: Trial, outcome: Outcome, opened: PlainModel<Inputs, Inputs>): Promise<void> {
  const run = (inputs: object): Promise<object> => opened.run(inputs as Inputs);
  if (model.golden.length === 0) {
    await run(zeros(model));
    return;
  }
  const isPackaged = fallback === 'bundled' || 'url' in fallback || 'folder' in fallback;
  const source = await sourceOf(model, backend, { source: isPackaged ? fallback : 'bundled' });
  const tested = [{ path: outcome.file.path, tolerances: [] }];
  const golden = model.golden.slice(0, 1).map((each) => ({ ...each, tested, samples: each.samples.slice(0, 1) }));
  await testModel({ ...outcome, backend, source, model: { ...outcome.model, golden } }, run);
}

/** Sizes that are open are 1. */
function zeros({ inputs }: ModelDescriptor): Inputs {
  return Object.fromEntries(
    Object.entries(inputs).map(([key, { type, shape }]) => {
      const sizes = shape.map((size) => size ?? 1);
      const count = countOf(sizes);
      return [key, { data: isNumberType(type) ? newArray(type, count) : Array<string>(count).fill(''), shape: sizes }];
    }),
  );
}
