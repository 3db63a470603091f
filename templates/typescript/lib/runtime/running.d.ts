import type { Engine, Opened, Ran } from './backend.js';
import type { ModelDescriptor } from './descriptor.js';
import { type Numbers } from './feeding.js';
import type { AnyTensor, NumberArray, NumberType } from './tensor.js';
/** Arguments for native code, and where it writes. */
export interface Prepared {
    readonly buffers: readonly ArrayBuffer[];
    readonly layout: readonly number[];
    readonly texts: readonly (readonly string[])[];
    /** For each output memory of the app; null for one that ONNX Runtime makes. */
    readonly targets: readonly (Numbers<NumberType> | null)[];
}
/** Makes memory for outputs that the app gives none for, all zero. */
export type MakeArray = (type: NumberType, count: number) => NumberArray;
/** Prepares the runs of a session, and reads what they give. */
export declare class Runs {
    private readonly inputs;
    private readonly outputs;
    /** @throws ModelError `bad-model` when the opened file lacks a tensor of the model, or has others */
    constructor(model: ModelDescriptor, opened: Opened);
    /** Names of the tensors in app code, in the order of the session's. */
    keys(): {
        readonly inputs: readonly string[];
        readonly outputs: readonly string[];
    };
    /** @throws ModelError `bad-input`, saying what is expected and what was found */
    prepare(inputs: object, into: object, makeArray: MakeArray): Prepared;
    /** The outputs of a run by their keys; those that ONNX Runtime made are copied, and freed there. */
    read(engine: Engine, prepared: Prepared, ran: Ran): Record<string, AnyTensor>;
}
