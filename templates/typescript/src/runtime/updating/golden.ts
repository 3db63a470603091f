// The samples in a file in the format safetensors: the same that packages have.

import type { GoldenSample, GoldenTensor } from '../descriptor.js';
import { utf8Text } from '../trustBytes.js';
import { Fields } from './fields.js';

const LENGTH_BYTES = 8;
const METADATA = '__metadata__';

/**
 * Where the tensors of each sample lie. Names are `NUMBER.input.NAME`, `NUMBER.output.NAME`, and `NUMBER.recipe.NAME` for an
 * input that is made.
 *
 * @throws FormError; RangeError and SyntaxError for what is no such file
 */
export function samplesIn(bytes: ArrayBuffer): readonly GoldenSample[] {
  const length = Number(new DataView(bytes).getBigUint64(0, true));
  const header: unknown = JSON.parse(utf8Text(new Uint8Array(bytes, LENGTH_BYTES, length)) ?? '');
  const { [METADATA]: about = {}, ...tensors } = header as Readonly<Record<string, unknown>>;
  const shapes = shapesIn(about as Readonly<Record<string, string>>);
  const samples = new Map<string, { inputs: GoldenTensor[]; outputs: GoldenTensor[] }>();
  for (const [key, entry] of Object.entries(tensors)) {
    const [, number = '', role = '', name = ''] = /^(\d+)\.(input|output|recipe)\.([\s\S]+)$/.exec(key) ?? [];
    const sample = samples.get(number) ?? { inputs: [], outputs: [] };
    samples.set(number, sample);
    const shape = shapes.get(role === 'recipe' ? `${number}.input.${name}` : key);
    const tensor = tensorOf(name, entry as Entry, LENGTH_BYTES + length, shape);
    if (tensor.offset + tensor.sizeBytes > bytes.byteLength) throw new RangeError(`${key} is beyond the end of the file`);
    (role === 'output' ? sample.outputs : sample.inputs).push(tensor);
  }
  return [...samples].sort(([one], [other]) => Number(one) - Number(other)).map(([, sample]) => sample);
}

/** Entry of a tensor in the header. */
interface Entry {
  readonly shape: readonly number[];
  readonly data_offsets: readonly [number, number];
}

function tensorOf(
  name: string,
  { shape, data_offsets: [start, end] }: Entry,
  offset: number,
  known: readonly number[] | undefined,
): GoldenTensor {
  return { name, offset: offset + start, sizeBytes: end - start, shape: known ?? shape };
}

/** Shapes of strings, which are written as bytes, and of what recipes make. */
function shapesIn(about: Readonly<Record<string, string>>): ReadonlyMap<string, readonly number[]> {
  const { strings = '{}', generated = '{}' } = about;
  const ofStrings = Object.entries(JSON.parse(strings) as Readonly<Record<string, readonly number[]>>);
  const made = new Fields({ made: JSON.parse(generated) as unknown }, 'samples').map('made', (each, name) =>
    each.object(name).numbers('shape'),
  );
  return new Map([...ofStrings, ...made]);
}
