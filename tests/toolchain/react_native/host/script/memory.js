// Cases on memory that JavaScript and native code share, in both engines: `plan.isLending` says which one this is.

import { allocate, EveryType, OrientationModel, SileroVad } from '@example/models';

import { check, equal, fails, grownBytes, later } from './checks.js';
import { engine } from './engine.js';

const PIXELS = 3 * 224 * 224;
const SHAPE = [1, 3, 224, 224];
const LONG = { data: new Float32Array(8 * PIXELS), shape: [8, 3, 224, 224] };
const [INPUT] = Object.keys(OrientationModel.descriptor.inputs);
const [OUTPUT] = Object.keys(OrientationModel.descriptor.outputs);
const one = () => ({ threads: 1, ...plan.options });
const page = (data) => ({ [INPUT]: { data, shape: SHAPE } });
const wave = (array, factor = 1) => array.forEach((_, index) => void (array[index] = factor * Math.sin(index / 50)));

export async function allocatesMemory() {
  for (const size of [0, 1, 24, 100000]) {
    const buffer = engine.allocate(size);
    check(buffer instanceof ArrayBuffer && buffer.byteLength === size, `an ArrayBuffer of ${size} bytes`);
    equal(host.isNative(buffer), plan.isLending, `${size} bytes of native memory`);
    check(!plan.isLending || host.address(buffer) % 64 === 0, 'where kernels like it');
    check(new Uint8Array(buffer).every((each) => each === 0), 'all zero');
    new Uint8Array(buffer).fill(255);
  }
  for (const size of [-1, 0.5, NaN, Infinity, 2 ** 53]) await fails(() => engine.allocate(size), 'bad-input');
  await fails(() => engine.allocate(2 ** 53 - 1), 'out-of-memory', 'not enough memory');
  const floats = allocate('float32', 6);
  check(floats instanceof Float32Array && floats.length === 6, 'floats');
  equal(host.isNative(floats.buffer), plan.isLending, 'over native memory');
  equal(allocate('int64', 2), new BigInt64Array(2), 'integers');
  for (const count of [-1, 0.5, NaN, '4']) await fails(() => allocate('float32', count), 'bad-input');
  await fails(() => allocate('float32', 2 ** 51), 'bad-input');
  await fails(() => allocate('float32', 2 ** 50), 'out-of-memory', 'not enough memory');
  for (const type of ['string', 'toString']) await fails(() => allocate(type, 1), 'bad-input', 'numbers');
}

/** Inputs at an offset, changed while they wait for their turn: native ones are seen as they are then. */
export async function readsWhereInputsLie() {
  const model = await OrientationModel.load(one());
  const [first, second] = [new Float32Array(PIXELS), new Float32Array(PIXELS)];
  wave(first);
  wave(second, -2);
  const [before, after] = [model.runSync(page(first))[OUTPUT].data, model.runSync(page(second))[OUTPUT].data];
  check(JSON.stringify(before) !== JSON.stringify(after), 'other inputs, other outputs');
  const memory = [allocate('float32', PIXELS + 30), new Float32Array(PIXELS + 30)];
  const inputs = memory.map((each) => each.subarray(13, 13 + PIXELS));
  for (const each of inputs) each.set(first);
  const busy = Array.from({ length: 3 }, () => model.run({ [INPUT]: LONG }));
  const runs = inputs.map((each) => model.run(page(each)));
  for (const each of inputs) each.set(second);
  await Promise.all(busy);
  const [lent, copied] = (await Promise.all(runs)).map((each) => each[OUTPUT].data);
  equal(lent, plan.isLending ? after : before, 'what native memory holds when the run begins');
  equal(copied, before, 'what an array of JavaScript held when run was called');
  for (const each of memory) each.fill(7);
  model.dispose();
}

/** What an app may change before another attempt is copied: native memory is not. */
export async function copiesNoNativeInputs() {
  const [setup] = OrientationModel.descriptor.platforms.ios.providers;
  Object.assign(setup, { registeredName: 'AZURE', executionProvider: 'AzureExecutionProvider', hidesNodes: false });
  const model = await OrientationModel.load({ ...plan.options, source: { path: plan.file } });
  equal(model.provider, 'xnnpack', 'a provider whose runs may be repeated');
  const { slice } = Float32Array.prototype;
  const copies = async (inputs) => {
    let count = 0;
    Float32Array.prototype.slice = function (...range) {
      count += 1;
      return slice.apply(this, range);
    };
    await model.run(inputs).finally(() => void (Float32Array.prototype.slice = slice));
    return count;
  };
  equal(await copies(page(allocate('float32', PIXELS))), plan.isLending ? 0 : 1, 'copies of memory that is lent');
  equal(await copies(page(new Float32Array(PIXELS))), 1, 'copies of an array of JavaScript');
  model.dispose();
}

/** Waits without letting JavaScript do anything: for what is to happen in native memory, or not to happen in any other. */
function sleepUntil(isDone, willBeDone) {
  const end = host.now() + (willBeDone ? 60000 : 1000);
  while (!isDone() && host.now() < end) host.sleep(10);
}

/** Outputs at an offset; JavaScript waits while the run ends, so that nothing can be copied back. */
export async function writesWhereOutputsLie() {
  const model = await OrientationModel.load(one());
  const input = new Float32Array(PIXELS);
  wave(input);
  const expected = model.runSync(page(input))[OUTPUT].data;
  for (const [target, isNative] of [[allocate('float32', 12), plan.isLending], [new Float32Array(12), false]]) {
    target.fill(-1);
    const data = target.subarray(5, 9);
    const run = model.run(page(input), { into: { [OUTPUT]: { data, shape: [1, 4] } } });
    sleepUntil(() => data.every((each) => each !== -1), isNative);
    equal(data, isNative ? expected : [-1, -1, -1, -1], 'before the promise is settled');
    check((await run)[OUTPUT].data === data, 'the memory that was given');
    equal(target, [-1, -1, -1, -1, -1, ...expected, -1, -1, -1], 'and nothing else was written to');
  }
  model.dispose();
}

/** Outputs whose shape is known are native unless the app gives memory for them. */
export async function makesOutputsWhereTheyAreWritten() {
  const model = await EveryType.load(one());
  const pinned = EveryType.descriptor.pinned.filter((key) => EveryType.outputs[key].type !== 'string');
  check(pinned.length > 5, 'outputs of known shape');
  const into = { f32T: new Float32Array(6) };
  const found = await model.run(everyInputs(), { into });
  check(found.f32T.data === into.f32T, 'memory of the app');
  for (const key of pinned.filter((each) => each !== 'f32T')) {
    equal(host.isNative(found[key].data.buffer), plan.isLending, `${key} in native memory`);
  }
  const sync = model.runSync(everyInputs());
  equal(found, sync, 'the same values');
  for (const key of pinned) check(!host.isNative(sync[key].data.buffer), `${key} of runSync needs none`);
  model.dispose();
}

/** Every input and output in native memory, of every type. */
export async function lendsEveryType() {
  const model = await EveryType.load(one());
  const inputs = everyInputs();
  const lent = Object.fromEntries(
    Object.entries(inputs).map(([key, value]) => {
      if (Array.isArray(value)) return [key, value];
      const { type } = EveryType.inputs[key];
      const data = value.data ?? value;
      const copy = allocate(type, data.length + 3).subarray(3);
      copy.set(data);
      return [key, value.shape === undefined ? copy : { data: copy, shape: value.shape }];
    }),
  );
  equal(await model.run(lent), model.runSync(inputs), 'the same values');
  equal(model.runSync(lent), model.runSync(inputs), 'and those of runSync');
  model.dispose();
}

/** Nobody but the run knows its memory any more: it is kept until the run ends, and no longer. */
export async function keepsMemoryOfRuns() {
  const model = await OrientationModel.load(one());
  const input = new Float32Array(PIXELS);
  wave(input);
  const expected = model.runSync(page(input))[OUTPUT].data;
  const round = async () => {
    const long = model.run({ [INPUT]: LONG });
    const runs = Array.from({ length: 4 }, () => runAndForget(model, input));
    for (let index = 0; index < 5; index += 1) {
      host.collectGarbage();
      new Float32Array(PIXELS).fill(index);
      await later(1);
    }
    await long;
    for (const each of await Promise.all(runs)) equal(each[OUTPUT].data, expected, 'values of forgotten memory');
    host.collectGarbage();
    await later(5);
    return host.residentBytes();
  };
  for (let index = 0; index < 4; index += 1) await round();
  const before = await round();
  for (let index = 0; index < plan.rounds; index += 1) await round();
  const grown = await grownBytes(before);
  model.dispose();
  return { grownBytes: grown };
}

/** The values are a small part of the memory, so that a few runs show what is not given back. */
function runAndForget(model, values) {
  const data = allocate('float32', plan.lentBytes / 4).fill(1).subarray(1, 1 + PIXELS);
  data.set(values);
  return model.run(page(data), { into: { [OUTPUT]: { data: allocate('float32', 4), shape: [1, 4] } } });
}

/** Files are read into native memory, and written from it. */
export async function filesInNativeMemory() {
  const path = `${plan.scratch}/native`;
  const bytes = allocate('uint8', 3);
  bytes.set([97, 98, 99]);
  const written = engine.writePart(path, 0, bytes.buffer);
  await written;
  const into = allocate('uint8', 3);
  const read = engine.readFile(path, 0, into.buffer, '');
  sleepUntil(() => into[2] !== 0, plan.isLending);
  equal(into, plan.isLending ? bytes : [0, 0, 0], 'before the promise is settled');
  await read;
  equal(into, bytes, 'what was written');
}

/** Layouts that leave native memory, or that begin between two elements. */
export async function refusesWrongPlacesInNativeMemory() {
  const model = await OrientationModel.load(one());
  const { session } = model.serving.latest.outcome.opened;
  const layout = (offset) => [offset, 4 * PIXELS, 4, ...SHAPE, 0, -1, 0];
  const run = (offset, size) => engine.run(session, 1e9, [engine.allocate(size), new ArrayBuffer(0)], layout(offset), [], false);
  await fails(() => run(0, 4 * PIXELS - 4), 'bad-input');
  await fails(() => run(8, 4 * PIXELS + 4), 'bad-input');
  await fails(() => run(2, 4 * PIXELS + 64), 'bad-input', 'multiple of 4');
  engine.drop((await run(4, 4 * PIXELS + 4)).kept);
  model.dispose();
}

/** Ends JavaScript while native memory is read and written; then begins anew. */
export async function endsAmidRunsInNativeMemory() {
  const model = await OrientationModel.load(one());
  for (let index = 0; index < 4; index += 1) {
    const data = allocate('float32', 4 * PIXELS);
    const into = { [OUTPUT]: { data: allocate('float32', 16), shape: [4, 4] } };
    void model.run({ [INPUT]: { data, shape: [4, 3, 224, 224] } }, { into });
  }
  // Nothing ends these: they go on, and compute a digest of what they have read.
  for (let index = 0; index < 12; index += 1) {
    void engine.readFile(plan.file, 0, engine.allocate(engine.fileSize(plan.file)), '0'.repeat(64)).catch(() => undefined);
  }
  void (await SileroVad.load(one())).run(speech((count) => allocate('float32', count)));
  await later(plan.delay);
  return null;
}

function speech(make) {
  return { input: make(576).fill(0.1), state: make(256), sr: new BigInt64Array([16000n]) };
}

function everyInputs() {
  const numbers = [1, 2, 3, 4, 5, 6];
  const integers = new BigInt64Array([1n, -2n, 3n, 4n, 5n, 6n]);
  return {
    f32: new Float32Array(numbers), f64: new Float64Array(numbers), f16: new Uint16Array(numbers),
    i8: new Int8Array(numbers), i16: new Int16Array(numbers), i32: new Int32Array(numbers), i64: integers,
    u8: new Uint8Array(numbers), flag: new Uint8Array([1, 0, 1, 0, 0, 1]), word: ['a', 'b', 'c', 'd', 'e', 'f'],
    scalar: new Float32Array([2.5]), rows: { data: new Float32Array(numbers), shape: [2, 3] },
  };
}
