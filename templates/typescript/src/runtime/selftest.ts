// Checks that a model computes on this device what it computed on the build machine.

import type { Backend } from './backend.js';
import { differing, distanceBetween, isMeasured, NO_DISTANCE, type Distance } from './distance.js';
import type { Golden, GoldenSample, GoldenTensor, Provider, Settings, TensorSpec, Tolerance } from './descriptor.js';
import { countOf, ELEMENTS, isNumberType } from './elements.js';
import { ModelError } from './errors.js';
import { inWords } from './feeding.js';
import type { Outcome } from './opening.js';
import type { ModelSource } from './options.js';
import { PROVIDERS } from './providers.js';
import { make, readRecipe } from './recipe.js';
import type { AnyTensor, NumberArray, NumberType, Shape } from './tensor.js';

/** The result of a self-test: outputs on this device, compared with those of the build machine. */
export interface SelfTest {
  /** Name of the model. */
  readonly model: string;
  /** Name of the file that was opened. */
  readonly file: string;
  /** The provider that ran it. */
  readonly provider: Provider;
  /** Every output of every sample that was compared. */
  readonly outputs: readonly OutputTest[];
  /** Whether there are `outputs`, and all are as expected. */
  readonly passed: boolean;
  /** Whether one of `outputs` is not as expected. A test without outputs had nothing to test: it neither passed nor failed. */
  readonly failed: boolean;
  /** One line per output, for a log. */
  toString(): string;
}

/** One output of one sample in a self-test. */
export interface OutputTest {
  /** Its name in the model. */
  readonly name: string;
  /** Number of the sample, from 0. */
  readonly sample: number;
  /** The largest difference from the expected values; 0 for values that must be equal. */
  readonly maxAbsError: number;
  /** `maxAbsError` as a share of `scale`. */
  readonly maxRelError: number;
  /** The largest expected value of all samples, and 1 at least where the range of the output is known. */
  readonly scale: number;
  /**
   * Values that differ and have no distance: NaN or an infinity where a number should be, or the other way round;
   * integers of more than 8 bits, booleans and strings that differ.
   */
  readonly mismatchCount: number;
  /** `maxAbsError` may be at most `absoluteTolerance` + this * `scale`; 0 for values that must be equal. */
  readonly tolerance: number;
  /** Largest `maxAbsError` that is allowed whatever the `scale`; 0 for values that must be equal. */
  readonly absoluteTolerance: number;
  /** Why the output failed; empty when it passed. */
  readonly failure: string;
  /** Whether the output is as expected. */
  readonly passed: boolean;
}

type Run = (inputs: object) => Promise<object>;

/** Runs a model on the samples that were made for the file it was opened from. */
export async function testModel(outcome: Outcome, run: Run): Promise<SelfTest> {
  const { model, backend, source, file, provider, settings } = outcome;
  const least = leastTolerance(provider, settings);
  const outputs: OutputTest[] = [];
  for (const golden of source.isOwn ? [] : model.golden) {
    const tested = golden.tested.find((each) => each.path === file.path);
    if (tested === undefined) continue;
    const tolerances = tested.tolerances.map((each) => atLeast(each, least));
    const bytes = await bytesOf(golden, source, backend);
    for (const [number, sample] of golden.samples.entries()) {
      const found = new Map<string, unknown>(Object.entries(await run(inputsOf(sample, model.inputs, bytes))));
      for (const tensor of sample.outputs) {
        const [key] = entryOf(model.outputs, tensor.name);
        outputs.push(compared(number, tensor, bytes, found.get(key) as AnyTensor, tolerances));
      }
    }
  }
  return selfTest(model.name, file.path, provider, outputs);
}

function selfTest(model: string, file: string, provider: Provider, outputs: readonly OutputTest[]): SelfTest {
  const failed = !outputs.every((output) => output.passed);
  const passed = outputs.length > 0 && !failed;
  const verdict = failed ? 'FAILED' : passed ? 'passed' : 'nothing to test';
  const title = `Self-test of ${model} on ${provider} (${file}): ${verdict}`;
  const toString = (): string => [title, ...outputs.map((output) => `  ${lineOf(output)}`)].join('\n');
  return { model, file, provider, outputs, passed, failed, toString };
}

/** The result of an output in a line. */
export function lineOf({ name, sample, failure, maxAbsError, passed, ...found }: OutputTest): string {
  const { tolerance: rtol, absoluteTolerance: atol, scale } = found;
  const words = passed ? errorInWords(maxAbsError, { rtol, atol, scale }) : `FAILED, ${failure}`;
  return `${name}, sample ${String(sample)}: ${words}`;
}

/** How far outputs may be off on a provider that rounds more than the CPU does, whatever the tolerance of the file. */
function leastTolerance(provider: Provider, settings: Settings): number {
  const { isRounding = false, exact } = PROVIDERS[provider];
  const isExact = exact !== undefined && (settings[exact[0]] ?? '') === exact[1];
  return isRounding && !isExact ? 1e-2 : 0;
}

function atLeast(tolerance: Tolerance, least: number): Tolerance {
  if (isNone(tolerance)) return tolerance;
  return { ...tolerance, rtol: Math.max(tolerance.rtol, least), atol: Math.max(tolerance.atol, least / 100) };
}

async function bytesOf(golden: Golden, source: ModelSource, backend: Backend): Promise<DataView> {
  const { path, sizeBytes } = golden.file;
  const [placed] = await source.place([golden.file]);
  if (placed === undefined) throw new ModelError('missing', `${path} is missing`);
  const { part, bytes } = placed;
  if (bytes !== null) return new DataView(bytes, part.offset, sizeBytes);
  const read = new ArrayBuffer(sizeBytes);
  await backend.readFile(part.path, part.offset, read, part.sha256);
  return new DataView(read);
}

/** A tensor by its name in the model, and what app code calls it. */
function entryOf(specs: Readonly<Record<string, TensorSpec>>, name: string): readonly [string, TensorSpec] {
  const entry = Object.entries(specs).find(([, spec]) => spec.name === name);
  if (entry === undefined) throw new ModelError('corrupted', `samples have a tensor \`${name}\`, the model has not`);
  return entry;
}

function inputsOf(sample: GoldenSample, specs: Readonly<Record<string, TensorSpec>>, bytes: DataView): object {
  return Object.fromEntries(
    sample.inputs.map((tensor): [string, object] => {
      const [key, { type }] = entryOf(specs, tensor.name);
      const data = isNumberType(type) ? inputNumbers(type, tensor, bytes) : textsIn(bytes, tensor);
      return [key, { data, shape: tensor.shape }];
    }),
  );
}

/** Values of an input, from the file or its recipe. */
function inputNumbers(type: NumberType, tensor: GoldenTensor, bytes: DataView): NumberArray {
  const count = countOf(tensor.shape);
  if (tensor.sizeBytes >= count * ELEMENTS[type].sizeBytes) return numbersIn(type, bytes, tensor);
  return make(type, count, readRecipe(new DataView(bytes.buffer, bytes.byteOffset + tensor.offset, tensor.sizeBytes)));
}

/** Values of the file. Phones, and all machines that JavaScript engines are made for, are little-endian as files are. */
function numbersIn(type: NumberType, bytes: DataView, { offset, sizeBytes }: GoldenTensor): NumberArray {
  const start = bytes.byteOffset + offset;
  return ELEMENTS[type].over((bytes.buffer as ArrayBuffer).slice(start, start + sizeBytes));
}

/** Strings one after the other, each behind its length in bytes. */
function textsIn(bytes: DataView, { offset, sizeBytes }: GoldenTensor): readonly string[] {
  const texts: string[] = [];
  for (let start = offset; start + 4 <= offset + sizeBytes;) {
    const length = bytes.getUint32(start, true);
    texts.push(utf8(new Uint8Array(bytes.buffer, bytes.byteOffset + start + 4, length)));
    start += 4 + length;
  }
  return texts;
}

/** Not every engine has a TextDecoder. */
function utf8(bytes: Uint8Array): string {
  const escaped = Array.from(bytes, (byte) => `%${byte.toString(16).padStart(2, '0')}`);
  return decodeURIComponent(escaped.join(''));
}

function compared(
  sample: number,
  tensor: GoldenTensor,
  bytes: DataView,
  found: AnyTensor,
  tolerances: readonly Tolerance[],
): OutputTest {
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

function isSameShape(shape: Shape, other: Shape): boolean {
  return differing(shape, other) === 0;
}

function distanceOf({ type, data }: AnyTensor, tensor: GoldenTensor, bytes: DataView, allowed: number): Distance {
  if (!isNumberType(type)) return { ...NO_DISTANCE, mismatches: differing(textsIn(bytes, tensor), data) };
  return distanceBetween(type, numbersIn(type, bytes, tensor), data as NumberArray, allowed);
}

function failureOf(distance: Distance, allowed: Tolerance, { type }: AnyTensor): string {
  if (distance.mismatches > allowed.mismatches) {
    const what = isMeasured(type) ? 'NaN or infinity at other places' : 'values that differ';
    return `${what}: ${String(distance.mismatches)}`;
  }
  const most = allowed.atol + allowed.rtol * allowed.scale;
  return distance.largest > most ? errorInWords(distance.largest, allowed) : '';
}

type Parts = Pick<Tolerance, 'rtol' | 'atol' | 'scale'>;

/** Whether nothing but equality counts. */
function isNone({ rtol, atol }: Parts): boolean {
  return rtol === 0 && atol === 0;
}

function errorInWords(error: number, allowed: Parts): string {
  if (isNone(allowed) && error === 0) return 'values compared for equality';
  const scale = short(allowed.scale);
  return `error ${short(error)} of ${scale}, allowed ${short(allowed.atol)} + ${short(allowed.rtol)} x ${scale}`;
}

function short(number: number): string {
  return number.toExponential(1);
}
