// Which provider runs how much of a model.

import type { Attempt } from './attempt.js';
import type { Opened } from './backend.js';
import { platformFiles, type Provider } from './descriptor.js';
import type { ProviderAssignment } from './options.js';

const CPU = 'CPUExecutionProvider';

/** What each provider runs of an open model; undefined where ONNX Runtime cannot say. */
export function assignmentOf(
  { assignment }: Opened,
  { model, backend }: Attempt,
): readonly ProviderAssignment[] | undefined {
  if (assignment === null) return undefined;
  const setups = platformFiles(model, backend.platform).providers;
  const named = setups.map((setup): [string, Provider] => [setup.executionProvider, setup.provider]);
  const names = new Map<string, Provider>([...named, [CPU, 'cpu']]);
  return assignment.flatMap(({ provider: name, nodes, macs }) => {
    const provider = names.get(name);
    return provider === undefined ? [] : [{ provider, nodes, macs }];
  });
}

/** Whether it is known that a provider runs nothing: then the CPU runs what it was asked for. */
export function hasNoNode(provider: Provider, assignment: readonly ProviderAssignment[] | undefined): boolean {
  return provider !== 'cpu' && assignment !== undefined && !assignment.some((each) => each.provider === provider);
}
