// The samples in a file in the format safetensors: the same that packages have.
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
export function samplesIn(bytes) {
    const length = Number(new DataView(bytes).getBigUint64(0, true));
    const header = JSON.parse(utf8Text(new Uint8Array(bytes, LENGTH_BYTES, length)) ?? '');
    const { [METADATA]: about = {}, ...tensors } = header;
    const shapes = shapesIn(about);
    const samples = new Map();
    for (const [key, entry] of Object.entries(tensors)) {
        const [, number = '', role = '', name = ''] = /^(\d+)\.(input|output|recipe)\.([\s\S]+)$/.exec(key) ?? [];
        const sample = samples.get(number) ?? { inputs: [], outputs: [] };
        samples.set(number, sample);
        const shape = shapes.get(role === 'recipe' ? `${number}.input.${name}` : key);
        const tensor = tensorOf(name, entry, LENGTH_BYTES + length, shape);
        if (tensor.offset + tensor.sizeBytes > bytes.byteLength)
            throw new RangeError(`${key} is beyond the end of the file`);
        (role === 'output' ? sample.outputs : sample.inputs).push(tensor);
    }
    return [...samples].sort(([one], [other]) => Number(one) - Number(other)).map(([, sample]) => sample);
}
function tensorOf(name, { shape, data_offsets: [start, end] }, offset, known) {
    return { name, offset: offset + start, sizeBytes: end - start, shape: known ?? shape };
}
/** Shapes of strings, which are written as bytes, and of what recipes make. */
function shapesIn(about) {
    const { strings = '{}', generated = '{}' } = about;
    const ofStrings = Object.entries(JSON.parse(strings));
    const made = new Fields({ made: JSON.parse(generated) }, 'samples').map('made', (each, name) => each.object(name).numbers('shape'));
    return new Map([...ofStrings, ...made]);
}
