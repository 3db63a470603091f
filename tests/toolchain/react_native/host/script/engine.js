// The TurboModule itself, called without the package's TypeScript: it must not trust what JavaScript passes.

import { TurboModuleRegistry } from 'react-native';

export const engine = TurboModuleRegistry.get('ModelsCxx');

export function part(path, more = {}) {
  return { name: '', path, offset: 0, size: -1, sha256: '', endsSha256: '', ...more };
}

export function request(file, more = {}) {
  const empty = { weights: [], provider: '', providerKeys: [], providerValues: [], settingKeys: [], settingValues: [] };
  return { file, descriptor: -1, ...empty, threads: 1, spinning: false, notes: '', verify: 'once', ...more };
}

/** Opens the file at a path. */
export function open(path, more = {}) {
  return engine.open(request(part(path, more)), null);
}
