// Which provider runs how much of a model.

import type { Attempt } from './attempt.js';
import type { AssignedInfo, Opened } from './backend.js';
import { platformFiles, type Provider } from './descriptor.js';
import type { ProviderAssignment } from './options.js';

const CPU = 'CPUExecutionProvider';

/** Name for nodes that ONNX Runtime has not recorded. */
const UNRECORDED = '';

/**
 * The share of each provider of a model that was opened for `asked`; undefined where ONNX Runtime cannot say.
 *
 * Of the nodes that it lays out anew for a provider it records nothing: those with multiply-accumulates are counted as
 * theirs.
 */
export function assignmentOf(
  { assignment }: Opened,
  { model, backend }: Attempt,
  asked: Provider,
): readonly ProviderAssignment[] | undefined {
  if (assignment === null) return undefined;
  const setups = platformFiles(model, backend.platform).providers;
  const isHiding = setups.some((setup) => setup.provider === asked && setup.hidesNodes);
  if (isHiding && !assignment.some(({ provider }) => provider === UNRECORDED)) return undefined;
  const named = setups.map((setup): [string, Provider] => [setup.executionProvider, setup.provider]);
  const hidden: [string, Provider][] = isHiding ? [[UNRECORDED, asked]] : [];
  return summed(assignment, new Map<string, Provider>([...named, [CPU, 'cpu'], ...hidden]));
}

function summed(assignment: readonly AssignedInfo[], names: ReadonlyMap<string, Provider>): ProviderAssignment[] {
  const sums = new Map<Provider, ProviderAssignment>();
  for (const { provider: name, nodes, macs } of assignment) {
    const provider = names.get(name);
    if (provider === undefined || nodes === 0) continue;
    const before = sums.get(provider) ?? { provider, nodes: 0, macs: 0 };
    sums.set(provider, { provider, nodes: before.nodes + nodes, macs: before.macs + macs });
  }
  return [...sums.values()];
}

/** Nodes with multiply-accumulates that `asked` runs, or nobody else; undefined where ONNX Runtime cannot say. */
export function macNodesOf({ assignment }: Opened, { model, backend }: Attempt, asked: Provider): number | undefined {
  if (assignment === null || assignment.every(({ macNodes }) => macNodes === 0)) return undefined;
  const setups = platformFiles(model, backend.platform).providers.filter((setup) => setup.provider === asked);
  const names = [UNRECORDED, ...setups.map((setup) => setup.executionProvider)];
  return assignment.reduce((sum, { provider, macNodes }) => sum + (names.includes(provider) ? macNodes : 0), 0);
}

/** Whether it is known that a provider runs nothing: then the CPU runs what it was asked for. */
export function hasNoNode(provider: Provider, assignment: readonly ProviderAssignment[] | undefined): boolean {
  return provider !== 'cpu' && assignment !== undefined && !assignment.some((each) => each.provider === provider);
}
