// Tries the files of a model on this device until one starts.
import { assignmentOf, hasNoNode } from './assignment.js';
import { platformFiles } from './descriptor.js';
import { isOfProvider, ModelError, toModelError } from './errors.js';
import { checkVersion, throwIfAborted } from './permitting.js';
import { checkSignature } from './signature.js';
import { sourceOf } from './sources.js';
import { startOf } from './starting.js';
export const NO_FILE = 'the package has no file of the model for it';
/**
 * Tries the files of each provider in turn, a session each, and the CPU last.
 *
 * @throws ModelError
 */
export async function openModel(model, backend, options) {
    try {
        throwIfAborted(options.signal);
        const about = backend.about();
        checkVersion(model, backend.platform, about.runtimeVersion, options);
        const source = await sourceOf(model, backend, options);
        const attempt = { model, backend, about, options, source };
        const { proof } = options;
        return await (isProver(proof) ? proof.open(attempt) : openFirst(attempt, ...providersOf(attempt)));
    }
    catch (thrown) {
        throw toModelError(thrown);
    }
}
function isProver(proof) {
    return proof !== undefined;
}
/** Opens the model on the first of `providers` that starts. */
export async function openFirst(attempt, ...providers) {
    const fallbacks = [];
    let code = 'runtime';
    for (const provider of providers) {
        const files = filesFor(provider, attempt);
        if (files.length === 0)
            fallbacks.push({ provider, reason: NO_FILE });
        for (const file of files) {
            const open = await tryToOpen(provider, file, attempt);
            if (!(open instanceof ModelError))
                return { ...attempt, ...open, fallbacks, proofs: [] };
            fallbacks.push({ provider, reason: open.message });
            code = open.code;
        }
    }
    const reason = fallbacks[fallbacks.length - 1]?.reason ?? '';
    throw new ModelError(code, `${attempt.model.className} did not start: ${reason}`);
}
/** In the order in which they are tried, the CPU last. */
export function providersOf({ model, backend, options }) {
    const packaged = platformFiles(model, backend.platform).providers.map((setup) => setup.provider);
    return new Set([...(options.providers ?? packaged).filter((provider) => provider !== 'cpu'), 'cpu']);
}
/** First the files that were made for this device's chip, then those for any. */
export function filesFor(provider, { backend, source }) {
    const { chip } = backend.device;
    const files = source.files.filter((file) => file.providers.includes(provider));
    const isForChip = (file) => chip !== '' && file.chips.includes(chip);
    return [...files.filter(isForChip), ...files.filter((file) => file.chips.length === 0)];
}
/** The error when ONNX Runtime cannot start it. Whatever else goes wrong is thrown: it ends the search. */
export async function tryToOpen(provider, file, attempt) {
    throwIfAborted(attempt.options.signal);
    try {
        return await open(provider, file, attempt);
    }
    catch (thrown) {
        const error = toModelError(thrown);
        if (isOfProvider(error))
            return error;
        throw error;
    }
}
async function open(provider, file, attempt) {
    const { source } = attempt;
    // First, because a provider that cannot start needs no file to be read or downloaded.
    const start = await startOf(provider, file, attempt);
    const placed = await source.place([file, ...file.weights]);
    try {
        return await openPlaced(provider, file, start, placed, attempt);
    }
    catch (thrown) {
        const error = toModelError(thrown);
        if (error.code !== 'corrupted' || !(await source.discard(placed, error)))
            throw error;
        // Storage lost what it had: what is downloaded anew was checked a moment ago.
        return openPlaced(provider, file, start, await source.place([file, ...file.weights]), attempt);
    }
}
async function openPlaced(provider, file, start, [placed, ...weights], attempt) {
    const { backend, source, options } = attempt;
    if (placed === undefined)
        throw new ModelError('missing', `${file.path} is missing`);
    throwIfAborted(options.signal);
    const opened = await backend.open({
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
    }, placed.bytes);
    const assignment = assignmentOf(opened, attempt, provider);
    checkOpened(opened, assignment, provider, attempt);
    const paths = [placed, ...weights].map(({ part }) => part.path);
    return { opened, file, provider, settings: start.options, assignment, paths };
}
/**
 * A session that nobody gets is closed: loading was cancelled meanwhile, the file is another model, or the provider took
 * nothing of it.
 */
function checkOpened(opened, assignment, provider, { model, backend, options, source }) {
    try {
        throwIfAborted(options.signal);
        if (source.isOwn)
            checkSignature(model, opened);
        if (hasNoNode(provider, assignment))
            throw new ModelError('runtime', 'took no node of the model');
    }
    catch (error) {
        backend.close(opened.session);
        throw error;
    }
}
