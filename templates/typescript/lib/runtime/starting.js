// How each provider is started.
import { coreMLFault, coreMLSettings } from './coreml.js';
import { platformFiles } from './descriptor.js';
import { ModelError } from './errors.js';
const NNAPI_API_LEVEL = 27;
/** @throws ModelError `runtime` when the provider must not run the file on this device */
export async function startOf(provider, file, attempt) {
    if (provider === 'cpu')
        return { registeredName: '', options: {} };
    const { registeredName, options: packaged } = setupOf(provider, attempt);
    await attempt.backend.probe?.(registeredName);
    const given = attempt.options.providerOptions?.[provider] ?? {};
    const plain = { registeredName, options: { ...packaged, ...given } };
    if (provider === 'xnnpack')
        return withThreads(plain, attempt);
    if (provider === 'nnapi')
        checkApiLevel(attempt.backend.device.apiLevel);
    if (provider === 'nnapi')
        return { ...plain, options: flagsOf(plain.options) };
    if (provider !== 'coreml')
        return plain;
    const options = { ...packaged, ...(await coreMLSettings(file, attempt)), ...given };
    const fault = coreMLFault(file, options, attempt.about.runtimeVersion);
    if (fault !== null)
        throw new ModelError('runtime', fault);
    return { ...plain, options };
}
function setupOf(provider, { model, backend }) {
    const setup = platformFiles(model, backend.platform).providers.find((each) => each.provider === provider);
    if (setup !== undefined)
        return setup;
    throw new ModelError('runtime', `the package was not built for ${provider} on this platform`);
}
/** XNNPACK has threads of its own, beside those for other operators. */
function withThreads(plain, { about, options }) {
    const { threads = 0 } = options;
    const count = threads > 0 ? threads : about.threads;
    return { ...plain, options: { intra_op_num_threads: String(count), ...plain.options } };
}
/** Older Android has no NNAPI. ONNX Runtime would start all the same and leave every operator to the CPU. */
function checkApiLevel(found) {
    if (found >= NNAPI_API_LEVEL)
        return;
    throw new ModelError('runtime', `NNAPI needs API level ${String(NNAPI_API_LEVEL)}, this device has ${String(found)}`);
}
/** ONNX Runtime knows of NNAPI's flags only that they are set: one that the app unsets is left out. */
function flagsOf(options) {
    for (const [name, value] of Object.entries(options)) {
        if (value === '0' || value === '1')
            continue;
        throw new ModelError('bad-options', `providerOptions.nnapi.${name} is '${value}', which is neither '0' nor '1'`);
    }
    return Object.fromEntries(Object.entries(options).filter(([, value]) => value === '1'));
}
