// Which provider runs how much of a model.
import { platformFiles } from './descriptor.js';
const CPU = 'CPUExecutionProvider';
/** What each provider runs of an open model; undefined where ONNX Runtime cannot say. */
export function assignmentOf({ assignment }, { model, backend }) {
    if (assignment === null)
        return undefined;
    const setups = platformFiles(model, backend.platform).providers;
    const named = setups.map((setup) => [setup.executionProvider, setup.provider]);
    const names = new Map([...named, [CPU, 'cpu']]);
    return assignment.flatMap(({ provider: name, nodes, macs }) => {
        const provider = names.get(name);
        return provider === undefined ? [] : [{ provider, nodes, macs }];
    });
}
/** Whether it is known that a provider runs nothing: then the CPU runs what it was asked for. */
export function hasNoNode(provider, assignment) {
    return provider !== 'cpu' && assignment !== undefined && !assignment.some((each) => each.provider === provider);
}
