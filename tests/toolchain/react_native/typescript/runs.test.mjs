import assert from 'node:assert/strict';
import { test } from 'node:test';
import { backend, load, ort, bytesOf, samples, transposed } from './package.mjs';

const { allocate, EveryType, ModelError } = await load('index.web.js');
const { setOnnxRuntime } = await load('runtime/onnxruntime.js');
const { chooseBackend } = await load('runtime/backend.js');
setOnnxRuntime(ort, { read: bytesOf });

async function withModel(work) {
  const model = await EveryType.load();
  try {
    await work(model);
  } finally {
    model.dispose();
  }
}

function refusal(code, message) {
  return (error) => {
    assert.ok(error instanceof ModelError);
    assert.equal(error.message, message);
    assert.equal(error.code, code);
    return true;
  };
}

test('every type of element goes in and comes out', () =>
  withModel(async (model) => {
    const inputs = samples();
    const outputs = await model.run(inputs);
    for (const name of ['f32', 'f64', 'f16', 'i8', 'i16', 'i32', 'i64', 'u8', 'flag']) {
      const { type, data, shape } = outputs[`${name}T`];
      assert.equal(type, EveryType.outputs[`${name}T`].type);
      assert.equal(data.constructor, inputs[name].constructor, name);
      assert.deepEqual([...data], transposed(inputs[name]), name);
      assert.deepEqual(shape, [3, 2]);
    }
    assert.deepEqual(outputs.wordT, { type: 'string', data: transposed(inputs.word), shape: [3, 2] });
    assert.deepEqual(outputs.u64T.data, new BigUint64Array(transposed(inputs.i64)));
    assert.deepEqual(outputs.u32T.data, new Uint32Array([1, 0, 2, 5, 3, 6]));
    assert.deepEqual(outputs.doubled, { type: 'float32', data: new Float32Array([5]), shape: [] });
    assert.deepEqual(outputs.columns.data, new Float32Array([1, 4, 2, 5, 3, 6]));
    assert.deepEqual(outputs.columns.shape, [3, 2]);
  }));

test('a part of a longer buffer is read and written where it is', () =>
  withModel(async (model) => {
    const long = new Float32Array([9, 9, 1, 2, 3, 4, 5, 6, 9]);
    const target = new Float32Array(10).fill(7);
    const into = { f32T: target.subarray(3, 9) };
    const { f32T } = await model.run({ ...samples(), f32: long.subarray(2, 8) }, { into });
    assert.equal(f32T.data, into.f32T);
    assert.deepEqual([...target], [7, 7, 7, 1, 4, 2, 5, 3, 6, 7]);
  }));

test('an output of open shape is written to memory that has its shape', () =>
  withModel(async (model) => {
    const data = new Float32Array(6);
    const { columns } = await model.run(samples(), { into: { columns: { data, shape: [3, 2] } } });
    assert.equal(columns.data, data);
    assert.deepEqual([...data], [1, 4, 2, 5, 3, 6]);
  }));

test('memory to be filled again and again is an array of its type', () =>
  withModel(async (model) => {
    const f32 = allocate('float32', 8).subarray(2);
    const target = allocate('float32', 6);
    for (const first of [0.5, 7]) {
      f32.set([first, 2, 3, 4, 5, 6]);
      const { f32T } = await model.run({ ...samples(), f32 }, { into: { f32T: target } });
      assert.equal(f32T.data, target);
      assert.deepEqual([...target], [first, 4, 2, 5, 3, 6]);
    }
    assert.deepEqual(allocate('int64', 2), new BigInt64Array(2));
    assert.deepEqual(allocate('float16', 0), new Uint16Array(0));
    assert.throws(() => allocate('string', 1), refusal('bad-input', 'memory is of numbers such as float32, found string'));
    const counts = 'memory is for a whole number of elements from 0 on, found';
    for (const count of [-1, 0.5, NaN, '4']) {
      assert.throws(() => allocate('int8', count), refusal('bad-input', `${counts} ${count}`));
    }
    assert.throws(
      () => allocate('float64', 2 ** 50),
      (error) => error instanceof ModelError && error.code === 'runtime',
    );
  }));

const REFUSED = [
  [{ f32: new Int32Array(6) }, {}, 'input `f32` takes a Float32Array (float32), found Int32Array'],
  [{ f32: [1, 2, 3, 4, 5, 6] }, {}, 'input `f32` takes a Float32Array (float32), found Array'],
  [{ f32: null }, {}, 'input `f32` takes a Float32Array (float32), found null'],
  [{ f32: new DataView(new ArrayBuffer(24)) }, {}, 'input `f32` takes a Float32Array (float32), found DataView'],
  [{ i64: new BigUint64Array(6) }, {}, 'input `i64` takes a BigInt64Array (int64), found BigUint64Array'],
  [{ f32: new Float32Array(5) }, {}, 'input `f32` of shape [2, 3] needs 6 values, found 5'],
  [{ scalar: new Float32Array(0) }, {}, 'input `scalar` of shape [] needs 1 value, found 0'],
  [{ f32: { data: new Float32Array(6), shape: [3, 2] } }, {}, 'input `f32` takes shape [2, 3], found [3, 2]'],
  [{ rows: { data: new Float32Array(6), shape: [2] } }, {}, 'input `rows` takes shape [?, ?], found [2]'],
  [
    { rows: { data: new Float32Array(6), shape: [-2, -3] } },
    {},
    'input `rows` takes a shape of whole numbers from 0 on, found [-2, -3]',
  ],
  [{ rows: { data: new Float32Array(6), shape: [2, 4] } }, {}, 'input `rows` of shape [2, 4] needs 8 values, found 6'],
  [{ rows: new Float32Array(6) }, {}, 'input `rows` takes shape [?, ?]: pass its sizes too, as { data, shape }'],
  [{ word: 'text' }, {}, 'input `word` takes an array of strings, found string'],
  [{ word: ['a', 'b', 'c', 'd', 'e', 6] }, {}, 'input `word` takes an array of strings, found number at index 5'],
  [{}, { f32T: new Float32Array(5) }, 'output `f32T` of shape [3, 2] needs 6 values, found 5'],
  [{}, { f32T: new Uint8Array(24) }, 'output `f32T` takes a Float32Array (float32), found Uint8Array'],
  [{}, { wordT: [] }, 'output `wordT` has strings, which no memory can be lent to'],
];

for (const [inputs, into, message] of REFUSED) {
  test(`refused: ${message}`, () =>
    withModel(async (model) => {
      await assert.rejects(model.run({ ...samples(), ...inputs }, { into }), refusal('bad-input', message));
    }));
}

test('inputs that are left out or made up are errors that name those of the model', () =>
  withModel(async (model) => {
    const { f32, ...others } = samples();
    const all = 'f32, f64, f16, i8, i16, i32, i64, u8, flag, word, scalar, rows';
    await assert.rejects(model.run(others), refusal('bad-input', `input \`f32\` is missing: the model has ${all}`));
    const more = { f32, ...others, toString: f32 };
    await assert.rejects(model.run(more), refusal('bad-input', `unknown input \`toString\`: the model has ${all}`));
  }));

for (const [inputs, found] of [
  [undefined, 'undefined'],
  [null, 'null'],
  [new Float32Array(6), 'Float32Array'],
  [[new Float32Array(6)], 'Array'],
]) {
  test(`refused: inputs without names, ${found}`, () =>
    withModel(async (model) => {
      const words = `inputs come in an object with their names, found ${found}: the model has f32, f64`;
      const isRefusal = (error) => error.code === 'bad-input' && error.message.startsWith(words);
      await assert.rejects(model.run(inputs), isRefusal);
    }));
}

test('inputs are copied when a run is called, and may be changed right after it', () =>
  withModel(async (model) => {
    const inputs = { ...samples(), scalar: new Float32Array(1) };
    const runs = [1, 2, 3].map((value) => {
      inputs.scalar[0] = value;
      return model.run(inputs);
    });
    inputs.scalar[0] = 99;
    const found = (await Promise.all(runs)).map(({ doubled }) => doubled.data[0]);
    assert.deepEqual(found, [2, 4, 6]);
  }));

test('a detached buffer holds nothing', () =>
  withModel(async (model) => {
    const f32 = new Float32Array(6);
    structuredClone(f32.buffer, { transfer: [f32.buffer] });
    const message = 'input `f32` of shape [2, 3] needs 6 values, found 0';
    await assert.rejects(model.run({ ...samples(), f32 }), refusal('bad-input', message));
  }));

test('runs may be under way at the same time', () =>
  withModel(async (model) => {
    const runs = Array.from({ length: 20 }, (_, number) =>
      model.run({ ...samples(), scalar: new Float32Array([number]) }),
    );
    const found = (await Promise.all(runs)).map(({ doubled }) => doubled.data[0]);
    assert.deepEqual(
      found,
      Array.from({ length: 20 }, (_, number) => 2 * number),
    );
  }));

test('a model that was disposed of runs no more, and a run that was under way ends', async () => {
  const model = await EveryType.load();
  const underWay = model.run(samples());
  model.dispose();
  model.dispose();
  const { doubled } = await underWay;
  assert.deepEqual([...doubled.data], [5]);
  const disposed = refusal('disposed', 'EveryType was disposed of');
  await assert.rejects(model.run(samples()), disposed);
  await assert.rejects(model.selfTest(), disposed);
  assert.throws(() => model.runSync(samples()), disposed);
});

test('a run whose signal was aborted before never starts', async () => {
  const started = [];
  const real = await backend();
  chooseBackend(() => ({ ...wrapped(real), run: () => started.push('run') }));
  const model = await EveryType.load();
  const cancelled = refusal('cancelled', 'the call was cancelled');
  await assert.rejects(model.run(samples(), { signal: AbortSignal.abort() }), cancelled);
  assert.deepEqual(started, []);
  model.dispose();
  setOnnxRuntime(ort, { read: bytesOf });
});

test('a run is cancelled by its signal, and the next one is not', () =>
  withModel(async (model) => {
    const controller = new AbortController();
    const run = model.run(samples(), { signal: controller.signal });
    controller.abort();
    await assert.rejects(run, (error) => error instanceof ModelError && error.code === 'cancelled');
    const { doubled } = await model.run(samples());
    assert.deepEqual([...doubled.data], [5]);
  }));

test('a run that has ended does not listen to its signal any more', () =>
  withModel(async (model) => {
    const { signal } = new AbortController();
    const listeners = [];
    signal.addEventListener = (_, listener) => listeners.push(listener);
    signal.removeEventListener = (_, listener) => listeners.splice(listeners.indexOf(listener), 1);
    const run = model.run(samples(), { signal });
    assert.equal(listeners.length, 1);
    await run;
    assert.equal(listeners.length, 0);
  }));

test('runSync says that JavaScript of ONNX Runtime has no such thing', () =>
  withModel((model) => {
    assert.throws(
      () => model.runSync(samples()),
      (error) => error instanceof ModelError && error.code === 'unsupported',
    );
  }));

test('runSync gives what run gives, and says what is wrong in the same words', async () => {
  const real = await backend();
  const calls = [];
  const runs = [];
  chooseBackend(() => ({
    ...wrapped(real),
    drop: () => undefined,
    run: async (session, call, ...rest) => {
      runs.push(await real.run(session, call, ...rest));
      return runs[0];
    },
    runSync: (session, ...rest) => {
      calls.push(rest);
      if (calls.length > 1) throw new Error('Exception in HostFunction: [runtime] no kernel');
      for (const buffer of rest[0]) assert.equal(Object.prototype.toString.call(buffer), '[object ArrayBuffer]');
      return runs[0];
    },
  }));
  const model = await EveryType.load();
  const outputs = await model.run(samples());
  const f32T = new Float32Array(6);
  const found = model.runSync(samples(), { into: { f32T } });
  assert.equal(found.f32T.data, f32T);
  assert.deepEqual([found.wordT, found.columns], [outputs.wordT, outputs.columns]);
  const [[buffers, layout, texts]] = calls;
  assert.equal(buffers.length, 12 + Object.keys(outputs).length);
  assert.deepEqual(layout.slice(0, 5), [0, 24, 2, 2, 3]);
  assert.deepEqual(texts, [samples().word]);
  assert.throws(() => model.runSync(samples()), refusal('runtime', 'no kernel'));
  assert.throws(
    () => model.runSync({}),
    (error) => error.code === 'bad-input',
  );
  model.dispose();
  setOnnxRuntime(ort, { read: bytesOf });
});

function wrapped(real) {
  const methods = [
    'about',
    'open',
    'close',
    'run',
    'runSync',
    'cancel',
    'allocate',
    'take',
    'drop',
    'fileSize',
    'readFile',
    'locate',
    'onMemoryPressure',
    'residentBytes',
  ];
  const bound = Object.fromEntries(methods.map((name) => [name, real[name]]));
  return { ...bound, platform: real.platform, device: real.device };
}
