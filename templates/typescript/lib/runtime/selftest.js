// Checks that a model computes on this device what it computed on the build machine.
import { differing, distanceBetween, isMeasured, NO_DISTANCE } from './distance.js';
import { countOf, ELEMENTS, isNumberType } from './elements.js';
import { ModelError } from './errors.js';
import { inWords } from './feeding.js';
import { PROVIDERS } from './providers.js';
import { make, readRecipe } from './recipe.js';
/** Runs a model on the samples that were made for the file it was opened from. */
export async function testModel(outcome, run) {
    const { model, backend, source, file, provider, settings } = outcome;
    const least = leastTolerance(provider, settings);
    const outputs = [];
    for (const golden of source.isOwn ? [] : model.golden) {
        const tested = golden.tested.find((each) => each.path === file.path);
        if (tested === undefined)
            continue;
        const tolerances = tested.tolerances.map((each) => atLeast(each, least));
        const bytes = await bytesOf(golden, source, backend);
        for (const [number, sample] of golden.samples.entries()) {
            const found = new Map(Object.entries(await run(inputsOf(sample, model.inputs, bytes))));
            for (const tensor of sample.outputs) {
                const [key] = entryOf(model.outputs, tensor.name);
                outputs.push(compared(number, tensor, bytes, found.get(key), tolerances));
            }
        }
    }
    return selfTest(model.name, file.path, provider, outputs);
}
function selfTest(model, file, provider, outputs) {
    const failed = !outputs.every((output) => output.passed);
    const passed = outputs.length > 0 && !failed;
    const verdict = failed ? 'FAILED' : passed ? 'passed' : 'nothing to test';
    const title = `Self-test of ${model} on ${provider} (${file}): ${verdict}`;
    const toString = () => [title, ...outputs.map((output) => `  ${lineOf(output)}`)].join('\n');
    return { model, file, provider, outputs, passed, failed, toString };
}
/** The result of an output in a line. */
export function lineOf({ name, sample, failure, maxAbsError, passed, ...found }) {
    const { tolerance: rtol, absoluteTolerance: atol, scale } = found;
    const words = passed ? errorInWords(maxAbsError, { rtol, atol, scale }) : `FAILED, ${failure}`;
    return `${name}, sample ${String(sample)}: ${words}`;
}
/** How far outputs may be off on a provider that rounds more than the CPU does, whatever the tolerance of the file. */
function leastTolerance(provider, settings) {
    const { isRounding = false, exact } = PROVIDERS[provider];
    const isExact = exact !== undefined && (settings[exact[0]] ?? '') === exact[1];
    return isRounding && !isExact ? 1e-2 : 0;
}
function atLeast(tolerance, least) {
    if (isNone(tolerance))
        return tolerance;
    return { ...tolerance, rtol: Math.max(tolerance.rtol, least), atol: Math.max(tolerance.atol, least / 100) };
}
async function bytesOf(golden, source, backend) {
    const { path, sizeBytes } = golden.file;
    const [placed] = await source.place([golden.file]);
    if (placed === undefined)
        throw new ModelError('missing', `${path} is missing`);
    const { part, bytes } = placed;
    if (bytes !== null)
        return new DataView(bytes, part.offset, sizeBytes);
    const read = new ArrayBuffer(sizeBytes);
    await backend.readFile(part.path, part.offset, read, part.sha256);
    return new DataView(read);
}
/** A tensor by its name in the model, and what app code calls it. */
function entryOf(specs, name) {
    const entry = Object.entries(specs).find(([, spec]) => spec.name === name);
    if (entry === undefined)
        throw new ModelError('corrupted', `samples have a tensor \`${name}\`, the model has not`);
    return entry;
}
function inputsOf(sample, specs, bytes) {
    return Object.fromEntries(sample.inputs.map((tensor) => {
        const [key, { type }] = entryOf(specs, tensor.name);
        const data = isNumberType(type) ? inputNumbers(type, tensor, bytes) : textsIn(bytes, tensor);
        return [key, { data, shape: tensor.shape }];
    }));
}
/** Values of an input, from the file or its recipe. */
function inputNumbers(type, tensor, bytes) {
    const count = countOf(tensor.shape);
    if (tensor.sizeBytes >= count * ELEMENTS[type].sizeBytes)
        return numbersIn(type, bytes, tensor);
    return make(type, count, readRecipe(new DataView(bytes.buffer, bytes.byteOffset + tensor.offset, tensor.sizeBytes)));
}
/** Values of the file. Phones, and all machines that JavaScript engines are made for, are little-endian as files are. */
function numbersIn(type, bytes, { offset, sizeBytes }) {
    const start = bytes.byteOffset + offset;
    return ELEMENTS[type].over(bytes.buffer.slice(start, start + sizeBytes));
}
/** Strings one after the other, each behind its length in bytes. */
function textsIn(bytes, { offset, sizeBytes }) {
    const texts = [];
    for (let start = offset; start + 4 <= offset + sizeBytes;) {
        const length = bytes.getUint32(start, true);
        texts.push(utf8(new Uint8Array(bytes.buffer, bytes.byteOffset + start + 4, length)));
        start += 4 + length;
    }
    return texts;
}
/** Not every engine has a TextDecoder. */
function utf8(bytes) {
    const escaped = Array.from(bytes, (byte) => `%${byte.toString(16).padStart(2, '0')}`);
    return decodeURIComponent(escaped.join(''));
}
function compared(sample, tensor, bytes, found, tolerances) {
    const allowed = tolerances.find((each) => each.output === tensor.name) ?? {
        output: tensor.name,
        rtol: 0,
        atol: 0,
        scale: 1,
        mismatches: 0,
    };
    const distance = isSameShape(found.shape, tensor.shape)
        ? distanceOf(found, tensor, bytes, allowed.mismatches)
        : NO_DISTANCE;
    const failure = isSameShape(found.shape, tensor.shape)
        ? failureOf(distance, allowed, found)
        : `shape ${inWords(found.shape)} instead of ${inWords(tensor.shape)}`;
    return {
        name: tensor.name,
        sample,
        maxAbsError: distance.largest,
        maxRelError: distance.largest / allowed.scale,
        scale: allowed.scale,
        mismatchCount: distance.mismatches,
        tolerance: allowed.rtol,
        absoluteTolerance: allowed.atol,
        failure,
        passed: failure === '',
    };
}
function isSameShape(shape, other) {
    return differing(shape, other) === 0;
}
function distanceOf({ type, data }, tensor, bytes, allowed) {
    if (!isNumberType(type))
        return { ...NO_DISTANCE, mismatches: differing(textsIn(bytes, tensor), data) };
    return distanceBetween(type, numbersIn(type, bytes, tensor), data, allowed);
}
function failureOf(distance, allowed, { type }) {
    if (distance.mismatches > allowed.mismatches) {
        const what = isMeasured(type) ? 'NaN or infinity at other places' : 'values that differ';
        return `${what}: ${String(distance.mismatches)}`;
    }
    const most = allowed.atol + allowed.rtol * allowed.scale;
    return distance.largest > most ? errorInWords(distance.largest, allowed) : '';
}
/** Whether nothing but equality counts. */
function isNone({ rtol, atol }) {
    return rtol === 0 && atol === 0;
}
function errorInWords(error, allowed) {
    if (isNone(allowed) && error === 0)
        return 'values compared for equality';
    const scale = short(allowed.scale);
    return `error ${short(error)} of ${scale}, allowed ${short(allowed.atol)} + ${short(allowed.rtol)} x ${scale}`;
}
function short(number) {
    return number.toExponential(1);
}
