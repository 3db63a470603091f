// Where a model spends its time: ONNX Runtime's trace of some runs.

import type { Backend } from './backend.js';
import { ModelError, toModelError } from './errors.js';
import type { Info } from './options.js';
import type { Prepared } from './running.js';

const MOST_RUNS = 10_000;

/**
 * Runs a session `runs` times in a second session of its own, and gives the path of the trace.
 *
 * @throws ModelError `bad-options` for what is no number of runs
 */
export async function profileSession(
  backend: Backend,
  session: number,
  { name }: Info,
  { buffers, layout, texts }: Prepared,
  runs: number,
): Promise<string> {
  if (!Number.isInteger(runs) || runs < 1 || runs > MOST_RUNS) {
    throw new ModelError('bad-options', `runs is ${String(runs)}, which is not one of 1 to ${String(MOST_RUNS)}`);
  }
  try {
    const prefix = `${backend.about().cache}/profiles/${name}`;
    return await backend.profile(session, prefix, runs, buffers, layout, texts);
  } catch (thrown) {
    throw toModelError(thrown);
  }
}
