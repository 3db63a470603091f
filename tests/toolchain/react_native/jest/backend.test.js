// ONNX Runtime's JavaScript API as what runs models: every type of element, memory of the app, and what goes wrong.
import * as ort from 'onnxruntime-node';
import { readFile } from 'node:fs/promises';
import { OnnxRuntimeBackend } from './node_modules/react-native-page-orientation/lib/runtime/onnxruntimeBackend.js';

const { folders, everyType, pixels, expected, outside } = require('./given.json');

/** For each input of the model, which transposes it, values of a 2x3 tensor. */
const VALUES = {
  f32: new Float32Array([0.5, 1, 2, 3, 4, 5]),
  f64: new Float64Array([0.1, 1, 2, 3, 4, 5]),
  f16: new Uint16Array([0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x7bff]),
  i8: new Int8Array([-128, 1, 2, 3, 4, 127]),
  i16: new Int16Array([-32768, 1, 2, 3, 4, 32767]),
  i32: new Int32Array([-2147483648, 1, 2, 3, 4, 2147483647]),
  i64: new BigInt64Array([7n, 1n, 2n, 3n, 4n, 9007199254740993n]),
  u8: new Uint8Array([255, 1, 2, 3, 4, 5]),
  flag: new Uint8Array([1, 0, 1, 1, 0, 0]),
};
const WORDS = ['a', 'ö', '', '日本', 'e\u0000f', 'g'];
const transposed = (values) => [0, 3, 1, 4, 2, 5].map((index) => values[index]);
const MADE = [0, -1, 0];
const NOTHING = new ArrayBuffer(0);

const part = (path, more = {}) => ({ name: '', path, offset: 0, size: -1, sha256: '', endsSha256: '', ...more });
const request = (file, more = {}) => ({
  file,
  weights: [],
  provider: '',
  providerKeys: [],
  providerValues: [],
  settingKeys: [],
  settingValues: [],
  threads: 1,
  notes: '',
  verify: 'once',
  ...more,
});

/** Runs of ONNX Runtime that are under way, the most that ever were, and what a test does in the middle of one. */
let underWay = 0;
let most = 0;
let meanwhile = () => undefined;

const watched = {
  ...ort,
  InferenceSession: {
    create: async (...parameters) => {
      const session = await ort.InferenceSession.create(...parameters);
      const compute = session.run.bind(session);
      session.run = async (feeds) => {
        underWay += 1;
        most = Math.max(most, underWay);
        meanwhile();
        try {
          return await compute(feeds);
        } finally {
          underWay -= 1;
        }
      };
      return session;
    },
  },
};

const backend = new OnnxRuntimeBackend(watched, { read: (path) => readFile(path) });
let opened;

beforeAll(async () => {
  opened = await backend.open(request(part(everyType)), null);
});

/** Each input is a part of longer memory; outputs are made by ONNX Runtime, unless there is memory for them. */
function layOut(outputs = {}) {
  const buffers = [];
  const layout = [];
  for (const { name, type } of opened.inputs) {
    if (type === 'string') {
      buffers.push(NOTHING);
      layout.push(0, 0, 2, 2, 3);
      continue;
    }
    const values = VALUES[name] ?? new Float32Array(name === 'scalar' ? [2.5] : [1, 2, 3, 4]);
    const longer = new ArrayBuffer(values.byteLength + 24);
    new Uint8Array(longer, 8).set(new Uint8Array(values.buffer));
    buffers.push(longer);
    const shape = { scalar: [], rows: [2, 2] }[name] ?? [2, 3];
    layout.push(8, values.byteLength, shape.length, ...shape);
  }
  for (const { name } of opened.outputs) {
    const into = outputs[name];
    buffers.push(into?.buffer ?? NOTHING);
    layout.push(...(into === undefined ? MADE : [into.byteOffset, into.byteLength, 2, 3, 2]));
  }
  return [buffers, layout, [WORDS]];
}

let calls = 0;
const run = (outputs) => backend.run(opened.session, (calls += 1), ...layOut(outputs));
const indexOf = (name) => opened.outputs.findIndex((output) => output.name === name);

function taken(ran, name, values) {
  const copy = new values.constructor(values.length);
  backend.take(ran.kept, indexOf(name), copy.buffer);
  return [...copy];
}

test('a session says what its tensors are', () => {
  const inputs = Object.fromEntries(opened.inputs.map(({ name, type, shape }) => [name, [type, ...shape]]));
  expect(inputs).toMatchObject({ f16: ['float16', 2, 3], word: ['string', 2, 3], scalar: ['float32'], flag: ['bool', 2, 3] });
  expect(inputs.rows).toEqual(['float32', -1, -1]);
  expect(opened.sizeBytes).toBeGreaterThan(100);
});

test.each(Object.keys(VALUES))('%s goes in and comes out as it is', async (name) => {
  const ran = await run();
  expect(taken(ran, `${name}_t`, VALUES[name])).toEqual(transposed([...VALUES[name]]));
  expect(ran.shapes[indexOf(`${name}_t`)]).toEqual([3, 2]);
  backend.drop(ran.kept);
});

test('types that only come out, strings, scalars and open shapes', async () => {
  const ran = await run();
  const numbers = transposed([...VALUES.i64]);
  expect(taken(ran, 'u64_t', new BigUint64Array(6))).toEqual(numbers);
  expect(taken(ran, 'u16_t', new Uint16Array(6)).slice(0, 5)).toEqual(numbers.slice(0, 5).map(Number));
  expect(taken(ran, 'u32_t', new Uint32Array(6)).slice(0, 5)).toEqual(numbers.slice(0, 5).map(Number));
  expect(ran.texts[indexOf('word_t')].map((word) => word.split('\u0000')[0])).toEqual(
    transposed(WORDS).map((word) => word.split('\u0000')[0]),
  );
  expect(taken(ran, 'doubled', new Float32Array(1))).toEqual([5]);
  expect(taken(ran, 'columns', new Float32Array(4))).toEqual([1, 3, 2, 4]);
  expect(ran.shapes[indexOf('doubled')]).toEqual([]);
  backend.drop(ran.kept);
  expect(() => backend.take(ran.kept, 0, new ArrayBuffer(24))).toThrow(expect.objectContaining({ code: 'bad-input' }));
});

test('an output is written to memory of the app, and only there', async () => {
  const memory = new Float32Array(10).fill(-1);
  await run({ f32_t: memory.subarray(2, 8) });
  expect([...memory]).toEqual([-1, -1, ...transposed([...VALUES.f32]), -1, -1]);
});

test('memory for another shape is refused', async () => {
  const [buffers, layout, texts] = layOut({ f32_t: new Float32Array(6) });
  const place = layout.length - 2 - 3 * (opened.outputs.length - 1);
  layout.splice(place, 2, 2, 3);
  await expect(backend.run(opened.session, 900, buffers, layout, texts)).rejects.toMatchObject({ code: 'bad-input' });
  await expect(run({ f32_t: new Float32Array(7) })).rejects.toMatchObject({ code: 'bad-input' });
});

test('a layout that is too short, too long or out of bounds is refused', async () => {
  const [buffers, layout, texts] = layOut();
  const far = [1 << 20, ...layout.slice(1)];
  for (const wrong of [layout.slice(0, -1), [...layout, 1], far]) {
    await expect(backend.run(opened.session, 901, buffers, wrong, texts)).rejects.toMatchObject({ code: 'bad-input' });
  }
});

test('runs at the same time take turns', async () => {
  const runs = await Promise.all([run(), run(), run()]);
  expect(most).toBe(1);
  expect(new Set(runs.map(({ kept }) => kept)).size).toBe(3);
  for (const ran of runs) {
    expect(taken(ran, 'f32_t', VALUES.f32)).toEqual(transposed([...VALUES.f32]));
    backend.drop(ran.kept);
  }
});

test("a run that was cancelled is rejected, and writes nothing to memory that is the app's again", async () => {
  const memory = new Float32Array(6).fill(-1);
  const running = backend.run(opened.session, 1000, ...layOut({ f32_t: memory }));
  const waiting = backend.run(opened.session, 1001, ...layOut());
  let runs = 0;
  meanwhile = () => {
    runs += 1;
    backend.cancel(1000);
    backend.cancel(1001);
  };
  await expect(running).rejects.toMatchObject({ code: 'cancelled' });
  await expect(waiting).rejects.toMatchObject({ code: 'cancelled' });
  backend.drop((await run()).kept);
  meanwhile = () => undefined;
  expect(runs).toBe(2); // the first and the last: what waits is not run at all
  expect([...memory]).toEqual([-1, -1, -1, -1, -1, -1]);
});

test('a closed session ends its runs and takes no more', async () => {
  const { session } = await backend.open(request(part(everyType)), null);
  const running = backend.run(session, 2000, ...layOut());
  backend.close(session);
  backend.close(session);
  expect((await running).shapes.length).toBe(opened.outputs.length);
  await expect(backend.run(session, 2001, ...layOut())).rejects.toMatchObject({ code: 'disposed' });
});

test('weights in a file of their own are found by the name that the model has for them', async () => {
  const [file, name, weights] = outside;
  const found = await backend.open(request(part(file), { weights: [part(weights, { name })] }), null);
  const image = Float32Array.from(pixels);
  const layout = [0, image.byteLength, 4, 1, 3, 224, 224, ...MADE];
  const ran = await backend.run(found.session, 3000, [image.buffer, NOTHING], layout, []);
  const result = new Float32Array(4);
  backend.take(ran.kept, 0, result.buffer);
  expected.forEach((value, index) => expect(result[index]).toBeCloseTo(value, 5));
  expect(found.sizeBytes).toBeGreaterThan((await readFile(weights)).length);
  backend.close(found.session);
  const wrong = part(weights, { name, sha256: '0'.repeat(64) });
  await expect(backend.open(request(part(file), { weights: [wrong] }), null)).rejects.toMatchObject({ code: 'corrupted' });
  await expect(backend.open(request(part(file)), null)).rejects.toMatchObject({ code: 'runtime' });
});

test('a model in memory may be a part of it', async () => {
  const bytes = await readFile(everyType);
  const longer = new Uint8Array(bytes.length + 64);
  longer.set(bytes, 16);
  const found = await backend.open(request(part('', { offset: 16, size: bytes.length })), longer.buffer);
  expect(found.inputs).toEqual(opened.inputs);
  backend.close(found.session);
  await expect(backend.open(request(part('', { size: 100 })), new ArrayBuffer(100))).rejects.toMatchObject({ code: 'runtime' });
});

test('settings and threads reach ONNX Runtime, and so does what it does not have', async () => {
  const settings = { settingKeys: ['session.load_model_format'], settingValues: ['ORT'] };
  await expect(backend.open(request(part(everyType), settings), null)).rejects.toMatchObject({ code: 'runtime' });
  const other = { provider: 'CoreML', providerKeys: [], providerValues: [] };
  await expect(backend.open(request(part(everyType), other), null)).rejects.toMatchObject({ code: 'runtime' });
});

test('a golden file is read in parts and checked', async () => {
  const bytes = await readFile(everyType);
  const into = new ArrayBuffer(32);
  await backend.readFile(everyType, 16, into, '');
  expect([...new Uint8Array(into)]).toEqual([...bytes.subarray(16, 48)]);
  await expect(backend.readFile(everyType, 16, into, '0'.repeat(64))).rejects.toMatchObject({ code: 'corrupted' });
  await expect(backend.readFile(everyType, bytes.length, into, '')).rejects.toMatchObject({ code: 'unreadable' });
  await expect(backend.readFile(`${folders[0]}/none`, 0, into, '')).rejects.toMatchObject({ code: 'missing' });
});

test('what needs a folder says that there is none', async () => {
  expect(backend.about()).toMatchObject({ bundle: '', cache: '', runtimeVersion: ort.env.versions.node });
  expect(backend.fileSize('/any')).toBe(-1);
  for (const call of [backend.writePart, backend.finishPart, backend.removeFile, backend.makeFolder]) {
    await expect(call('/any')).rejects.toMatchObject({ code: 'unsupported' });
  }
});
