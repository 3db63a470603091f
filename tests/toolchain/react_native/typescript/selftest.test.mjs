import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bytesOf, load, ort } from './package.mjs';

const { EveryType } = await load('index.web.js');
const { setOnnxRuntime } = await load('runtime/onnxruntime.js');
const { loadModel } = await load('runtime/loading.js');
const { make, readRecipe } = await load('runtime/recipe.js');
const { distanceBetween } = await load('runtime/distance.js');

const { descriptor } = EveryType;
setOnnxRuntime(ort, { read: bytesOf });

async function tested(model) {
  const loaded = await loadModel(model);
  try {
    return await loaded.selfTest();
  } finally {
    loaded.dispose();
  }
}

/** The descriptor with every golden file changed. */
function withGolden(change) {
  return { ...descriptor, golden: descriptor.golden.map((each) => ({ ...each, ...change(each) })) };
}

/** The first sample, with one output changed. */
function withOutput(name, change) {
  return withGolden(({ samples: [{ inputs, outputs }] }) => ({
    samples: [
      { inputs, outputs: outputs.map((each) => (each.name === name ? { ...each, ...change(outputs) } : each)) },
    ],
  }));
}

test('a model that computes what it should passes, output by output', async () => {
  const found = await tested(descriptor);
  assert.ok(found.passed, found.toString());
  const samples = descriptor.golden[0].samples;
  assert.ok(samples.length > 1);
  assert.deepEqual(
    found.outputs.map(({ sample, name }) => `${sample} ${name}`),
    samples.flatMap(({ outputs }, sample) => outputs.map(({ name }) => `${sample} ${name}`)),
  );
  const [title, ...lines] = found.toString().split('\n');
  assert.equal(title, `Self-test of every_type on cpu (${found.file}): passed`);
  assert.equal(lines.length, found.outputs.length);
  assert.match(lines[0], /^ {2}\S+, sample 0: (values compared for equality|error 0\.0e\+0 of \d)/);
});

test('an output that is something else fails, and says how far it is off', async () => {
  const other = (outputs) => ({ offset: outputs.find(({ name }) => name === 'columns').offset });
  const found = await tested(withOutput('f32_t', other));
  assert.ok(!found.passed);
  const wrong = found.outputs.filter(({ passed }) => !passed);
  assert.deepEqual(
    wrong.map(({ name }) => name),
    ['f32_t'],
  );
  assert.match(wrong[0].failure, /^error \d\.\de[+-]\d+ of \d\.\de[+-]\d+, allowed \d\.\de[+-]\d+ \+ \d\.\de[+-]\d+ x \d/);
  assert.match(found.toString(), /f32_t, sample 0: FAILED, error/);
});

test('an error may be atol + rtol * scale', async () => {
  const other = (outputs) => ({ offset: outputs.find(({ name }) => name === 'columns').offset });
  const wrong = withOutput('f32_t', other);
  const error = (await tested(wrong)).outputs.find(({ name }) => name === 'f32_t').maxAbsError;
  const judged = async (parts) => {
    const own = (each) => (each.output === 'f32_t' ? { ...each, ...parts } : each);
    const change = (each) => ({ ...each, tolerances: each.tolerances.map(own) });
    const golden = wrong.golden.map((each) => ({ ...each, tested: each.tested.map(change) }));
    return (await tested({ ...wrong, golden })).outputs.find(({ name }) => name === 'f32_t');
  };
  for (const [rtol, atol, scale, passes] of [
    [0, error, 1, true],
    [0, 0.99 * error, 1, false],
    [0.5, 0, 2.02 * error, true],
    [0.5, 0, 1.98 * error, false],
    [0.5, 0.51 * error, error, true],
  ]) {
    const found = await judged({ rtol, atol, scale });
    assert.equal(found.passed, passes, found.failure);
    assert.deepEqual([found.tolerance, found.absoluteTolerance, found.scale], [rtol, atol, scale]);
    assert.ok(Math.abs(found.maxRelError * scale - error) <= 1e-9 * error);
  }
});

test('integers that differ are counted, and so are strings', async () => {
  const ofName = (wanted) => (outputs) => ({ offset: outputs.find(({ name }) => name === wanted).offset });
  const integers = await tested(withOutput('i32_t', ofName('u8_t')));
  const [wrong] = integers.outputs.filter(({ passed }) => !passed);
  assert.equal(wrong.name, 'i32_t');
  assert.equal(wrong.failure, `values that differ: ${wrong.mismatchCount}`);
});

test('another shape fails without a comparison', async () => {
  const found = await tested(withOutput('f32_t', () => ({ shape: [2, 3] })));
  assert.deepEqual(
    found.outputs.filter(({ passed }) => !passed).map(({ failure }) => failure),
    ['shape [3, 2] instead of [2, 3]'],
  );
});

test('a test that compares nothing has not passed', async () => {
  const found = await tested({ ...descriptor, golden: [] });
  assert.ok(!found.passed);
  assert.deepEqual(found.outputs, []);
});

test('samples that are not those of the package are refused', async () => {
  const file = (golden) => ({ file: { ...golden.file, sha256: '0'.repeat(64) } });
  await assert.rejects(tested(withGolden(file)), (error) => error.code === 'corrupted');
});

test('recipes make what Python makes, bit for bit', async () => {
  const cases = JSON.parse(process.env.RECIPES);
  assert.ok(cases.length > 12);
  for (const { type, count, recipe, values } of cases) {
    const bytes = Buffer.from(recipe, 'base64');
    const made = make(type, count, readRecipe(new DataView(bytes.buffer, bytes.byteOffset, bytes.length)));
    const found = Buffer.from(made.buffer, made.byteOffset, made.byteLength).toString('base64');
    assert.equal(found, values, `${type} of ${count}`);
  }
});

test('NaN and infinities are told from numbers', () => {
  const distance = distanceBetween(
    'float32',
    new Float32Array([NaN, Infinity, -Infinity, 1, NaN, -2]),
    new Float32Array([NaN, Infinity, Infinity, NaN, 1, -1.5]),
    0,
  );
  assert.deepEqual(distance, { mismatches: 3, largest: 0.5 });
});

test('a device that gives infinity everywhere has lost what is compared', () => {
  const scores = new Float32Array([0.9, Infinity, Infinity, 0.8, Infinity, Infinity]);
  const infinite = new Float32Array(6).fill(Infinity);
  assert.equal(distanceBetween('float32', scores, infinite, 4).mismatches, 6);
  assert.equal(distanceBetween('float32', scores, new Float32Array([0.9, 1, 2, 0.8, 3, 4]), 4).mismatches, 4);
});

test('16-bit floats are read as the numbers that they are', () => {
  const halves = distanceBetween('float16', new Uint16Array([0x3c00, 1, 0xfbff]), new Uint16Array([0x3c01, 0, 0xfbff]), 0);
  assert.deepEqual(halves, { mismatches: 0, largest: 2 ** -10 });
  const uppers = distanceBetween('bfloat16', new Uint16Array([0x3f80, 0x7f80]), new Uint16Array([0x3f81, 0x7f81]), 0);
  assert.deepEqual(uppers, { mismatches: 1, largest: 2 ** -7 });
});
