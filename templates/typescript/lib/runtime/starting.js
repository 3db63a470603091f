// How each provider is started.
import { compiledFolder } from './compiled.js';
import { platformFiles } from './descriptor.js';
import { ModelError } from './errors.js';
import { PROVIDERS } from './providers.js';
/** @throws ModelError `runtime` when the provider must not run the file on this device */
export async function startOf(provider, file, attempt) {
    if (provider === 'cpu')
        return { registeredName: '', options: {} };
    const { registeredName, options: packaged } = setupOf(provider, attempt);
    await attempt.backend.probe?.(registeredName);
    const facts = PROVIDERS[provider];
    checkApiLevel(registeredName, facts, attempt.backend.device.apiLevel);
    const options = {
        ...threadsOf(facts, attempt),
        ...packaged,
        ...(await compiledFolder(facts, file, attempt)),
        ...attempt.options.providerOptions?.[provider],
    };
    checkNumbers(facts, file, options, attempt.about.runtimeVersion);
    return { registeredName, options: facts.hasFlags === true ? flagsOf(provider, options) : options };
}
function setupOf(provider, { model, backend }) {
    const { providers, offered = [] } = platformFiles(model, backend.platform);
    const setup = [...providers, ...offered].find((each) => each.provider === provider);
    if (setup !== undefined)
        return setup;
    throw new ModelError('runtime', `the package was not built for ${provider} on this platform`);
}
/** Threads of a provider's own are beside those for other operators. */
function threadsOf({ threadsOption }, { about, options: { threads = 0 } }) {
    return threadsOption === undefined ? {} : { [threadsOption]: String(threads > 0 ? threads : about.threads) };
}
/** Older Android lacks the provider. ONNX Runtime would start all the same and leave every operator to the CPU. */
function checkApiLevel(name, { oldestAndroid }, found) {
    if (oldestAndroid === undefined || found >= oldestAndroid)
        return;
    throw new ModelError('runtime', `${name} needs API level ${String(oldestAndroid)}, this device has ${String(found)}`);
}
/** Some versions of ONNX Runtime compute wrong numbers with some options. */
function checkNumbers({ faulty }, file, options, runtimeVersion) {
    if (faulty === undefined || !file.isFloat16)
        return;
    const [versions, option] = faulty;
    if (!runtimeVersion.startsWith(versions) || options[option] !== '1')
        return;
    throw new ModelError('runtime', `ONNX Runtime ${runtimeVersion} computes wrong 16-bit floats with ${option}`);
}
/** ONNX Runtime knows of flags only that they are set: one that the app unsets is left out. */
function flagsOf(provider, options) {
    for (const [name, value] of Object.entries(options)) {
        if (value === '0' || value === '1')
            continue;
        throw new ModelError('bad-options', `providerOptions.${provider}.${name} is '${value}', which is neither '0' nor '1'`);
    }
    return Object.fromEntries(Object.entries(options).filter(([, value]) => value === '1'));
}
