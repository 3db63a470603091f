// Compares the tensors of an app's own file with those of the model that it stands in for.

import type { Opened, TensorInfo } from './backend.js';
import type { ModelDescriptor, TensorSpec, TensorSpecs } from './descriptor.js';
import { ModelError } from './errors.js';
import { inWords } from './feeding.js';

/** @throws ModelError `bad-model`, saying what the model has and what the file has */
export function checkSignature(model: ModelDescriptor, opened: Opened): void {
  checkTensors('input', model.inputs, opened.inputs, (key) => model.inputs[key] !== undefined);
  checkTensors('output', model.outputs, opened.outputs, (key) => model.pinned.includes(key));
}

/** Shapes that a model merely declares, and does not keep to, are not compared. */
function checkTensors(
  kind: string,
  specs: TensorSpecs,
  infos: readonly TensorInfo[],
  isShapeKnown: (key: string) => boolean,
): void {
  for (const [key, spec] of Object.entries(specs)) {
    const info = infos.find((each) => each.name === spec.name);
    if (info === undefined) throw refused(kind, spec, 'the file has none of that name');
    if (info.type !== spec.type) throw refused(kind, spec, `in the file it is ${info.type}`);
    if (!isShapeKnown(key) || fits(spec.shape, info.shape)) continue;
    throw refused(kind, spec, `in the file it is ${inWords(info.shape.map((size) => (size < 0 ? null : size)))}`);
  }
  const others = infos.filter((info) => !Object.values(specs).some((spec) => spec.name === info.name));
  if (others.length === 0) return;
  const names = others.map((info) => `\`${info.name}\``).join(', ');
  throw new ModelError('bad-model', `the file has ${kind}s that the model has not: ${names}`);
}

/** Sizes are compared where both are known. */
function fits(sizes: readonly (number | null)[], found: readonly number[]): boolean {
  if (sizes.length !== found.length) return false;
  return sizes.every((size, axis) => size === null || (found[axis] ?? -1) < 0 || size === found[axis]);
}

function refused(kind: string, { name, type, shape }: TensorSpec, found: string): ModelError {
  return new ModelError('bad-model', `${kind} \`${name}\` is ${type} ${inWords(shape)}: ${found}`);
}
