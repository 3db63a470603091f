// What a verdict on a provider holds for.

import type { Attempt } from '../attempt.js';
import type { Provider } from '../descriptor.js';
import { PROVIDERS } from '../providers.js';
import { randomBits } from '../recipe.js';

/** An interface of browsers to hardware. Its information has getters alone. */
interface Accelerator {
  readonly requestAdapter?: () => Promise<{ readonly info?: Readonly<Record<string, unknown>> } | null>;
}

const TOLD = ['vendor', 'architecture', 'device', 'description'];

/**
 * A short hash of all that a verdict holds for: the installed app, the system and the graphics processor as far as they are
 * known, ONNX Runtime, the package, and the options of sessions. It names nobody and no device.
 */
export async function fingerprintOf(provider: Provider, { model, backend, about, options }: Attempt): Promise<string> {
  const { threads = 0, spinning = false, providerOptions = {} } = options;
  // Systems install each version of an app in a folder of its own.
  const installed = await Promise.all(
    model.golden.slice(0, 1).map(({ file }) => backend.locate(file.path, file.sizeBytes, file.url?.())),
  );
  const facts = [
    installed.map(({ path }) => path),
    backend.system?.() ?? '',
    await browserOf(PROVIDERS[provider].browserInterface),
    [about.runtimeVersion, model.version],
    Object.entries(providerOptions[provider] ?? {}).sort(),
    [threads === 0 ? about.threads : threads, spinning],
  ];
  let hash = 0n;
  for (const each of JSON.stringify(facts)) hash = randomBits(hash, each.codePointAt(0) ?? 0);
  return hash.toString(16).padStart(16, '0');
}

async function browserOf(accelerator: string | undefined): Promise<readonly unknown[]> {
  const { navigator = {} } = globalThis as { readonly navigator?: { readonly userAgent?: string } };
  const found = accelerator === undefined ? undefined : (Reflect.get(navigator, accelerator) as Accelerator | undefined);
  const adapter = await found?.requestAdapter?.().catch(() => null);
  return [navigator.userAgent ?? '', ...TOLD.map((name) => adapter?.info?.[name] ?? '')];
}
