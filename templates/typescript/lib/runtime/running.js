// One run of a session: from the app's tensors to those that it gets.
import { countOf, isNumberType, newArray } from './elements.js';
import { ModelError } from './errors.js';
import { checkKeys, numbersOf, textsOf } from './feeding.js';
const NOTHING = new ArrayBuffer(0);
const MADE_BY_RUNTIME = [0, -1, 0];
/** Prepares the runs of a session, and reads what they give. */
export class Runs {
    inputs;
    outputs;
    /** @throws ModelError `bad-model` when the opened file lacks a tensor of the model, or has others */
    constructor(model, opened) {
        this.inputs = inOrder('input', opened.inputs, model.inputs, []);
        this.outputs = inOrder('output', opened.outputs, model.outputs, model.pinned);
    }
    /** Names of the tensors in app code, in the order of the session's. */
    keys() {
        return { inputs: keysOf(this.inputs), outputs: keysOf(this.outputs) };
    }
    /** @throws ModelError `bad-input`, saying what is expected and what was found */
    prepare(inputs, into, makeArray) {
        checkKeys('input', keysOf(this.inputs), inputs, true);
        checkKeys('output', keysOf(this.outputs), into, false);
        const given = new Map(Object.entries(inputs));
        const wanted = new Map(Object.entries(into));
        const fed = this.inputs.map((slot) => feed(slot, given.get(slot.key)));
        const targets = this.outputs.map((slot) => target(slot, wanted.get(slot.key), makeArray));
        const bound = targets.map((numbers) => (numbers === null ? UNBOUND : bind(numbers)));
        return {
            buffers: [...fed, ...bound].map((tensor) => tensor.buffer),
            layout: [...fed, ...bound].flatMap((tensor) => tensor.layout),
            texts: fed.flatMap((tensor) => (tensor.texts === null ? [] : [tensor.texts])),
            targets,
        };
    }
    /** The outputs of a run by their keys; those that ONNX Runtime made are copied, and freed there. */
    read(engine, prepared, ran) {
        try {
            return Object.fromEntries(this.outputs.map((slot, index) => [slot.key, output(engine, slot, index, prepared, ran)]));
        }
        finally {
            if (ran.kept !== 0)
                engine.drop(ran.kept);
        }
    }
}
const UNBOUND = { buffer: NOTHING, layout: MADE_BY_RUNTIME, texts: null };
function keysOf(slots) {
    return slots.map((slot) => slot.key);
}
function inOrder(kind, found, specs, pinned) {
    const slots = Object.entries(specs).map(([key, spec]) => ({ key, spec, isPinned: pinned.includes(key) }));
    const ordered = found.map((info) => slots.find((slot) => slot.spec.name === info.name));
    const known = ordered.filter((slot) => slot !== undefined);
    if (known.length !== slots.length || known.length !== found.length) {
        const has = found.map((info) => info.name).join(', ') || 'none';
        const needed = slots.map((slot) => slot.spec.name).join(', ') || 'none';
        throw new ModelError('bad-model', `the file's ${kind}s are ${has}; those of the model are ${needed}`);
    }
    return known;
}
function feed({ key, spec }, value) {
    const what = `input \`${key}\``;
    if (isNumberSpec(spec))
        return bind(numbersOf(what, spec, value));
    const { values, shape } = textsOf(what, spec, value);
    return { buffer: NOTHING, layout: [0, 0, shape.length, ...shape], texts: values };
}
function target({ key, spec, isPinned }, value, makeArray) {
    const what = `output \`${key}\``;
    if (value === undefined) {
        if (!isPinned || !isNumberSpec(spec))
            return null;
        const shape = spec.shape.map((size) => size ?? 0);
        return { type: spec.type, array: makeArray(spec.type, countOf(shape)), shape };
    }
    if (!isNumberSpec(spec))
        throw new ModelError('bad-input', `${what} has strings, which no memory can be lent to`);
    return numbersOf(what, spec, value);
}
function isNumberSpec(spec) {
    return isNumberType(spec.type);
}
function bind({ array, shape }) {
    const layout = [array.byteOffset, array.byteLength, shape.length, ...shape];
    return { buffer: array.buffer, layout, texts: null };
}
function output(engine, { spec }, index, prepared, ran) {
    const { type } = spec;
    const written = prepared.targets[index] ?? null;
    if (written !== null)
        return { type: written.type, data: written.array, shape: written.shape };
    const shape = [...(ran.shapes[index] ?? [])];
    if (!isNumberType(type))
        return { type, data: ran.texts[index] ?? [], shape };
    const data = newArray(type, countOf(shape));
    if (data.length > 0)
        engine.take(ran.kept, index, data.buffer);
    return { type, data, shape };
}
