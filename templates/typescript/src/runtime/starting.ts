// How each provider is started.

import type { Attempt } from './attempt.js';
import { compiledFolder } from './compiled.js';
import { platformFiles, type ModelFile, type Provider, type ProviderSetup, type Settings } from './descriptor.js';
import { ModelError } from './errors.js';
import type { ProviderFacts } from './providerFacts.js';
import { PROVIDERS } from './providers.js';

/** How a provider is started. */
export interface Start {
  /** ONNX Runtime's name of the provider; empty for the CPU. */
  readonly registeredName: string;
  readonly options: Settings;
}

/** @throws ModelError `runtime` when the provider must not run the file on this device */
export async function startOf(provider: Provider, file: ModelFile, attempt: Attempt): Promise<Start> {
  if (provider === 'cpu') return { registeredName: '', options: {} };
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

function setupOf(provider: Provider, { model, backend }: Attempt): ProviderSetup {
  const { providers, offered = [] } = platformFiles(model, backend.platform);
  const setup = [...providers, ...offered].find((each) => each.provider === provider);
  if (setup !== undefined) return setup;
  throw new ModelError('runtime', `the package was not built for ${provider} on this platform`);
}

/** Threads of a provider's own are beside those for other operators. */
function threadsOf({ threadsOption }: ProviderFacts, { about, options: { threads = 0 } }: Attempt): Settings {
  return threadsOption === undefined ? {} : { [threadsOption]: String(threads > 0 ? threads : about.threads) };
}

/** Older Android lacks the provider. ONNX Runtime would start all the same and leave every operator to the CPU. */
function checkApiLevel(name: string, { oldestAndroid }: ProviderFacts, found: number): void {
  if (oldestAndroid === undefined || found >= oldestAndroid) return;
  throw new ModelError('runtime', `${name} needs API level ${String(oldestAndroid)}, this device has ${String(found)}`);
}

/** Some versions of ONNX Runtime compute wrong numbers with some options. */
function checkNumbers({ faulty }: ProviderFacts, file: ModelFile, options: Settings, runtimeVersion: string): void {
  if (faulty === undefined || !file.isFloat16) return;
  const [versions, option] = faulty;
  if (!runtimeVersion.startsWith(versions) || options[option] !== '1') return;
  throw new ModelError('runtime', `ONNX Runtime ${runtimeVersion} computes wrong 16-bit floats with ${option}`);
}

/** ONNX Runtime knows of flags only that they are set: one that the app unsets is left out. */
function flagsOf(provider: Provider, options: Settings): Settings {
  for (const [name, value] of Object.entries(options)) {
    if (value === '0' || value === '1') continue;
    throw new ModelError('bad-options', `providerOptions.${provider}.${name} is '${value}', which is neither '0' nor '1'`);
  }
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value === '1'));
}
