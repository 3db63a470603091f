// Which provider runs how much of a model.
import { platformFiles } from './descriptor.js';
const CPU = 'CPUExecutionProvider';
/** Name for nodes that ONNX Runtime has not recorded. */
const UNRECORDED = '';
/**
 * The share of each provider of a model that was opened for `asked`; undefined where ONNX Runtime cannot say.
 *
 * Of the nodes that it lays out anew for a provider it records nothing: those with multiply-accumulates are counted as
 * theirs.
 */
export function assignmentOf({ assignment }, { model, backend }, asked) {
    if (assignment === null)
        return undefined;
    const setups = platformFiles(model, backend.platform).providers;
    const isHiding = setups.some((setup) => setup.provider === asked && setup.hidesNodes);
    if (isHiding && !assignment.some(({ provider }) => provider === UNRECORDED))
        return undefined;
    const named = setups.map((setup) => [setup.executionProvider, setup.provider]);
    const hidden = isHiding ? [[UNRECORDED, asked]] : [];
    return summed(assignment, new Map([...named, [CPU, 'cpu'], ...hidden]));
}
function summed(assignment, names) {
    const sums = new Map();
    for (const { provider: name, nodes, macs } of assignment) {
        const provider = names.get(name);
        if (provider === undefined || nodes === 0)
            continue;
        const before = sums.get(provider) ?? { provider, nodes: 0, macs: 0 };
        sums.set(provider, { provider, nodes: before.nodes + nodes, macs: before.macs + macs });
    }
    return [...sums.values()];
}
/** Nodes with multiply-accumulates that `asked` runs, or nobody else; undefined where ONNX Runtime cannot say. */
export function macNodesOf({ assignment }, { model, backend }, asked) {
    if (assignment === null || assignment.every(({ macNodes }) => macNodes === 0))
        return undefined;
    const setups = platformFiles(model, backend.platform).providers.filter((setup) => setup.provider === asked);
    const names = [UNRECORDED, ...setups.map((setup) => setup.executionProvider)];
    return assignment.reduce((sum, { provider, macNodes }) => sum + (names.includes(provider) ? macNodes : 0), 0);
}
/** Whether it is known that a provider runs nothing: then the CPU runs what it was asked for. */
export function hasNoNode(provider, assignment) {
    return provider !== 'cpu' && assignment !== undefined && !assignment.some((each) => each.provider === provider);
}
