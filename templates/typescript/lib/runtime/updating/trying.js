// Tries a release before any load opens it.
import { countOf, newArray, isNumberType } from '../elements.js';
import { ModelError, toModelError } from '../errors.js';
import { openModel } from '../opening.js';
import { PlainModel } from '../plainModel.js';
import { testModel } from '../selftest.js';
import { sourceOf } from '../sources.js';
import { goldenOf, releaseOf } from './releases.js';
/**
 * Opens a release and runs it: on its samples, whose outputs are compared, or else on the package's, or on zeros.
 *
 * @throws ModelError: `bad-model` for other outputs, and what opening and running a model throws
 */
export async function tryRelease(trial, fitting) {
    const { model, platform, providers } = trial;
    const { backend, source } = platform.opening();
    const released = releaseOf(model, backend, fitting);
    const golden = await goldenOf(released, fitting.files, platform).catch((reason) => {
        const error = toModelError(reason);
        throw error.code === 'runtime' ? new ModelError('bad-model', `its samples cannot be read: ${error.message}`) : error;
    });
    // Which ONNX Runtime the app may have is asked at each load.
    const outcome = await openModel({ ...released, golden }, backend, { source, providers, allowOtherRuntime: true });
    const opened = new PlainModel(outcome);
    try {
        const test = await opened.selfTest();
        if (test.outputs.length === 0)
            await warmUp(trial, outcome, opened);
        else if (!test.passed)
            throw new ModelError('bad-model', test.toString());
    }
    finally {
        opened.dispose();
    }
}
/** One run, whose numbers nobody knows. */
async function warmUp({ model, backend, fallback }, outcome, opened) {
    const run = (inputs) => opened.run(inputs);
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
function zeros({ inputs }) {
    return Object.fromEntries(Object.entries(inputs).map(([key, { type, shape }]) => {
        const sizes = shape.map((size) => size ?? 1);
        const count = countOf(sizes);
        return [key, { data: isNumberType(type) ? newArray(type, count) : Array(count).fill(''), shape: sizes }];
    }));
}
