// Cases on the models of a package, through what an app imports.

import * as models from '@example/models';

import { atOnce, check, equal, fails, grownBytes, later, text, until, untilMet } from './checks.js';
import { engine } from './engine.js';

const { EveryType, OrientationModel, SileroVad } = models;

const PIXELS = 3 * 224 * 224;
const one = () => ({ threads: 1, ...plan.options });
const pixels = () => Float32Array.from({ length: PIXELS }, (_, index) => Math.sin(index / 50));
const speech = () => ({ input: new Float32Array(576).fill(0.1), state: new Float32Array(256), sr: new BigInt64Array([16000n]) });
const close = (left, right) => left.every((value, index) => Math.abs(value - right[index]) <= 1e-6);

/** Runs the model that the plan names on values from files. */
export async function outputs() {
  const model = await models[plan.model].load(one());
  const inputs = {};
  for (const [name, { path, array, shape }] of Object.entries(plan.inputs)) {
    inputs[name] = { data: new globalThis[array](host.read(path)), shape };
  }
  const sync = model.runSync(inputs);
  const found = await model.run(inputs);
  equal(sync, found, 'run and runSync differ');
  const { info, provider, fallbacks } = model;
  model.dispose();
  return { info, provider, fallbacks, outputs: found };
}

export async function readsPartsOfBuffers() {
  const model = await OrientationModel.load(one());
  const [name] = Object.keys(OrientationModel.descriptor.inputs);
  const [output] = Object.keys(OrientationModel.descriptor.outputs);
  const whole = pixels();
  const longer = new Float32Array(PIXELS + 20).fill(1e9);
  longer.set(whole, 7);
  const input = longer.subarray(7, 7 + PIXELS);
  check(input.byteOffset === 28, 'the input begins inside its buffer');
  const expected = (await model.run({ [name]: { data: whole, shape: [1, 3, 224, 224] } }))[output].data;
  const target = new Float32Array(12).fill(-1);
  const into = { [output]: { data: target.subarray(5, 9), shape: [1, 4] } };
  const found = await model.run({ [name]: { data: input, shape: [1, 3, 224, 224] } }, { into });
  equal(found[output].data, expected, 'values of a part of a buffer');
  check(found[output].data.buffer === target.buffer, 'the result lies in the memory that was given');
  equal(target, [-1, -1, -1, -1, -1, ...expected, -1, -1, -1], 'nothing else was written to');
  model.runSync({ [name]: { data: input.map((value) => -value), shape: [1, 3, 224, 224] } }, { into });
  check(text(target.subarray(5, 9)) !== text(expected), 'another input, another output');
}

export async function keepsOutputsApart() {
  const model = await SileroVad.load(one());
  const [first, second] = [await model.run(speech()), model.runSync({ ...speech(), input: new Float32Array(576).fill(0.4) })];
  check(text(first) !== text(second), 'two runs have memory of their own');
  model.dispose();
  check(first[Object.keys(first)[0]].data.length > 0, 'outputs outlive the model');
}

export async function everyElementType() {
  const model = await EveryType.load(one());
  const inputs = {
    f32: new Float32Array([1, 2, 3, 4, 5, 6]),
    f64: new Float64Array([1.5, 2, 3, 4, 5, 1e300]),
    f16: new Uint16Array([0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x7c00]),
    i8: new Int8Array([-128, 2, 3, 4, 5, 127]),
    i16: new Int16Array([-32768, 2, 3, 4, 5, 32767]),
    i32: new Int32Array([-2147483648, 2, 3, 4, 5, 2147483647]),
    i64: new BigInt64Array([-9223372036854775808n, 2n, 3n, 4n, 5n, 9223372036854775807n]),
    u8: new Uint8Array([0, 2, 3, 4, 5, 255]),
    flag: new Uint8Array([1, 0, 1, 0, 0, 1]),
    word: ['', 'zwei', ' \t\n', '\u{1f600}', 'f\u00fcnf', 'x'.repeat(5000)],
    scalar: new Float32Array([21]),
    rows: { data: new Float32Array([1, 2, 3, 4, 5, 6]), shape: [3, 2] },
  };
  const sync = model.runSync(inputs);
  const found = await model.run(inputs);
  equal(sync, found, 'run and runSync differ');
  model.dispose();
  return found;
}

export async function refusesWrongTensors() {
  const model = await OrientationModel.load(one());
  const [name] = Object.keys(OrientationModel.descriptor.inputs);
  await fails(() => model.run({ [name]: new Float32Array(5) }), 'bad-input');
  await fails(() => model.run({ [name]: new Float64Array(PIXELS) }), 'bad-input', 'Float32Array');
  await fails(() => model.run({}), 'bad-input', name);
  await fails(() => model.run({ [name]: { data: pixels(), shape: [1, 3, 448, 112] } }), 'bad-input');
}

/** Loads and disposes, and how that ends. */
export async function loadFails() {
  const error = await fails(() => OrientationModel.load(one()), plan.code, plan.words);
  return error.message;
}

export async function loads() {
  const model = await OrientationModel.load(one());
  const { provider, fallbacks, info } = model;
  model.dispose();
  return { provider, fallbacks, info };
}

/** Which providers are tried before the one that starts: as usual, as the app says, and without tuned settings. */
export async function tunes() {
  const tried = async (options) => (await models.Names.load(options)).fallbacks.map((each) => each.provider);
  const usual = await tried({});
  const own = await tried({ providers: ['xnnpack'] });
  models.setTuned(false);
  return { usual, own, off: await tried({}) };
}

/** What each provider runs of a file of the app's own. */
export async function assigns() {
  const { info, assignment, ...model } = await OrientationModel.load({ ...one(), source: { path: plan.file } });
  return { provider: model.provider, assignment, sizeBytes: info.sizeBytes };
}

/** A provider that ONNX Runtime has here, that starts, and that takes no node of any usual model. */
export async function loadsWithoutNodes() {
  const [setup] = OrientationModel.descriptor.platforms.ios.providers;
  Object.assign(setup, { registeredName: 'AZURE', executionProvider: 'AzureExecutionProvider', hidesNodes: false });
  const options = { ...plan.options, ...(plan.file === undefined ? {} : { source: { path: plan.file } }) };
  const { provider, fallbacks, assignment } = await OrientationModel.load(options);
  return { provider, fallbacks, assignment };
}

/** How many threads of the process a load adds: by default, with threads of its own, with ones that spin. */
export async function threadsOfLoads() {
  const added = [];
  for (const options of [{}, { threads: 3 }, { spinning: true }]) {
    const counts = [];
    for (let load = 0; load < 5; load += 1) {
      const before = host.threads();
      await OrientationModel.load(options);
      counts.push(host.threads() - before);
    }
    counts.sort((one, other) => one - other);
    added.push(counts[2]); // the first makes what is shared, and JavaScript's engine makes and ends threads when it likes
  }
  return { added, threads: engine.about().threads };
}

/** Loads a model several times at once. */
export async function loadsAtOnce() {
  const all = await Promise.all(Array.from({ length: 4 }, () => OrientationModel.load(one())));
  for (const model of all) model.dispose();
  return all.length;
}

export async function selfTests() {
  const results = [];
  for (const each of [OrientationModel, SileroVad, EveryType]) {
    const model = await each.load(one());
    const result = await model.selfTest();
    results.push({ model: result.model, passed: result.passed, compared: result.outputs.length, words: result.toString() });
    model.dispose();
  }
  return results;
}

/** Runs that were called for before end by themselves, later ones as `disposed`: with one under way, and some that wait. */
export async function disposesWhileRunning() {
  const [name] = Object.keys(OrientationModel.descriptor.inputs);
  const [output] = Object.keys(OrientationModel.descriptor.outputs);
  const input = { [name]: { data: new Float32Array(8 * PIXELS).fill(0.5), shape: [8, 3, 224, 224] } };
  await untilMet(async (wait) => {
    const model = await OrientationModel.load(one());
    let ended = 0;
    const runs = Array.from({ length: 6 }, () => model.run(input));
    for (const each of runs) each.then(() => void (ended += 1), () => undefined);
    const expected = (await runs[0])[output].data;
    await later(wait);
    const endedBefore = ended;
    model.dispose();
    const ends = await Promise.all(runs);
    for (const each of ends) equal(each[output].data, expected, 'its output, also of runs that were still to begin');
    await fails(() => model.run(input), 'disposed');
    await fails(() => model.runSync(input), 'disposed');
    model.dispose();
    return endedBefore < runs.length - 1;
  });
}

/** A run that waits is cancelled at once, though another one goes on; one that is under way ends before it is whole. */
export async function cancels() {
  const model = await OrientationModel.load(one());
  const [name] = Object.keys(OrientationModel.descriptor.inputs);
  const input = { [name]: { data: new Float32Array(8 * PIXELS), shape: [8, 3, 224, 224] } };
  const start = () => {
    const controllers = [new AbortController(), new AbortController()];
    return [controllers, controllers.map(({ signal }) => model.run(input, { signal }))];
  };
  const codes = (ends) => ends.map(({ status, reason }) => (status === 'fulfilled' ? status : reason.code));
  equal(codes(await Promise.allSettled(start()[1])), ['fulfilled', 'fulfilled'], 'runs that nobody cancels');
  await untilMet(async (wait) => {
    const [controllers, runs] = start();
    let hasEnded = false;
    const end = () => void (hasEnded = true);
    runs[0].then(end, end);
    await later(wait);
    controllers[1].abort();
    const [second] = await Promise.allSettled([runs[1]]);
    if (hasEnded || second.status === 'fulfilled') return void (await Promise.allSettled(runs));
    equal([second.reason.code, second.reason.name], ['cancelled', 'ModelError'], 'the run that waited');
    controllers[0].abort();
    await atOnce();
    const hadBegun = !hasEnded;
    const [first] = codes(await Promise.allSettled(runs));
    check(['fulfilled', 'cancelled'].includes(first), `the run that was under way: ${first}`);
    return hadBegun && first === 'cancelled';
  });
  const next = await model.run({ [name]: { data: pixels(), shape: [1, 3, 224, 224] } });
  check(next !== undefined, 'the model still runs');
}

export async function growsNot() {
  const model = await SileroVad.load(one());
  const words = await EveryType.load(one());
  const inputs = everyInputs();
  const round = async (count) => {
    for (let index = 0; index < count; index += 1) {
      await model.run(speech());
      model.runSync(speech());
      await words.run(inputs);
      await model.run({ ...speech(), input: new Float32Array(575) }).catch(() => undefined);
      if (index % 50 === 0) host.collectGarbage();
    }
    host.collectGarbage();
    await later(20);
    return host.residentBytes();
  };
  await round(300);
  const before = await round(300);
  await round(1000);
  return { grownBytes: await grownBytes(before), threads: host.threads() };
}

function everyInputs() {
  const six = (type) => new type(6);
  return {
    f32: six(Float32Array), f64: six(Float64Array), f16: six(Uint16Array), i8: six(Int8Array), i16: six(Int16Array),
    i32: six(Int32Array), i64: six(BigInt64Array), u8: six(Uint8Array), flag: six(Uint8Array),
    word: ['a', 'b', 'c', 'd', 'e', 'f'.repeat(50000)], scalar: new Float32Array(1),
    rows: { data: new Float32Array(6), shape: [2, 3] },
  };
}

/** Two models at once, and many of one: threads of their own, and none is left behind. */
export async function runsSideBySide() {
  const before = host.threads();
  const [page, voice] = await Promise.all([OrientationModel.load(one()), SileroVad.load(one())]);
  const [name] = Object.keys(OrientationModel.descriptor.inputs);
  const input = { [name]: { data: new Float32Array(8 * PIXELS), shape: [8, 3, 224, 224] } };
  await untilMet(async () => {
    const order = [];
    const long = page.run(input).then(() => order.push('long'));
    const short = voice.run(speech()).then(() => order.push('short'));
    await Promise.all([long, short]);
    return order[0] === 'short'; // it does not wait for another model
  });
  const [many, alone] = [await Promise.all(Array.from({ length: 40 }, () => voice.run(speech()))), voice.runSync(speech())];
  for (const each of many) equal(each, alone, 'runs that queue');
  page.dispose();
  voice.dispose();
  for (let index = 0; index < 20; index += 1) {
    const model = await SileroVad.load(one());
    void model.run(speech()).catch(() => undefined);
    model.dispose();
  }
  const sweep = async () => (await SileroVad.load(one())).dispose();
  await until(() => host.threads() <= before + 3, () => `threads: ${before} before, ${host.threads()} after`, sweep);
}

/** Calls beyond the queue are refused at once; those that ended, and those that were cancelled, leave their places. */
export async function queueIsBounded() {
  for (const queue of [0, 1.5, '2']) await fails(() => SileroVad.load({ ...one(), queue }), 'bad-options');
  const model = await SileroVad.load({ ...one(), queue: 2 });
  const endings = async (calls) => (await Promise.allSettled(calls)).map(({ status, reason }) => reason?.code ?? status);
  const call = () => model.run(speech());
  equal(await endings([call(), call(), call()]), ['fulfilled', 'fulfilled', 'busy'], 'one too many');
  equal(await endings([call(), call()]), ['fulfilled', 'fulfilled'], 'later ones');
  model.dispose();
  const page = await OrientationModel.load({ ...one(), queue: 2 });
  const [name] = Object.keys(OrientationModel.descriptor.inputs);
  const input = { [name]: { data: new Float32Array(8 * PIXELS), shape: [8, 3, 224, 224] } };
  await untilMet(async () => {
    const controller = new AbortController();
    const calls = [page.run(input), page.run(input, { signal: controller.signal })];
    controller.abort();
    return text(await endings(calls)) === text(['fulfilled', 'cancelled']);
  });
  equal(await endings([page.run(input), page.run(input)]), ['fulfilled', 'fulfilled'], 'its place is free');
  page.dispose();
  const usual = await SileroVad.load(one());
  const many = await endings(Array.from({ length: 65 }, () => usual.run(speech())));
  equal(many.filter((ending) => ending === 'busy').length, 1, 'by default 64');
  usual.dispose();
}

/** A file of the app's own, by path or in memory; `plan.own` is the same model, `plan.other` another one. */
export async function ownFiles() {
  const expected = (await run(await OrientationModel.load(one()))).map((value) => value);
  const bytes = host.read(plan.own);
  const padded = new Uint8Array(bytes.byteLength + 11);
  padded.set(new Uint8Array(bytes), 9);
  const view = padded.subarray(9, 9 + bytes.byteLength);
  for (const source of [{ path: plan.own }, { path: `file://${plan.own}`, sha256: plan.sha256 }, { buffer: bytes }, { buffer: view, sha256: plan.sha256 }]) {
    const model = await OrientationModel.load({ ...one(), source });
    padded.fill(0);
    check(close(await run(model), expected), `values of ${Object.keys(source)}`);
    padded.set(new Uint8Array(bytes), 9);
    model.dispose();
  }
  const wrong = '0'.repeat(64);
  await fails(() => OrientationModel.load({ ...one(), source: { path: plan.own, sha256: wrong } }), 'corrupted');
  await fails(() => OrientationModel.load({ ...one(), source: { buffer: bytes, sha256: wrong } }), 'corrupted');
  await fails(() => OrientationModel.load({ ...one(), source: { path: plan.other } }), 'bad-model');
  await fails(() => OrientationModel.load({ ...one(), source: { path: '/nowhere/model.ort' } }), 'missing');
  await fails(() => OrientationModel.load({ ...one(), source: { buffer: new Uint8Array(100) } }), 'runtime');
  const odd = { providers: ['xnnpack'], providerOptions: { xnnpack: { no_such_option: '1' } } };
  return (await OrientationModel.load({ ...one(), source: { buffer: bytes }, ...odd }).catch((error) => error)).fallbacks;
}

/** The app's own file by a descriptor, all of it and a part; `plan.inside` has it from byte 100 on. */
export async function descriptors() {
  const expected = (await run(await OrientationModel.load(one()))).map((value) => value);
  const { size, sha256 } = plan;
  for (const [path, part] of [[plan.own, {}], [plan.own, { sha256 }], [plan.inside, { offset: 100, size, sha256 }]]) {
    const descriptor = host.openDescriptor(path);
    const loading = OrientationModel.load({ ...one(), source: { descriptor, ...part } });
    const model = await loading;
    equal(host.closeDescriptor(descriptor), 0, 'the descriptor is still open, and the app closes it');
    check(close(await run(model), expected), `values of ${path}`);
    await fails(() => model.run({}), 'bad-input');
    model.dispose();
    await fails(() => OrientationModel.load({ ...one(), source: { descriptor } }), 'unreadable', `descriptor ${descriptor}`);
  }
  const descriptor = host.openDescriptor(plan.inside);
  const part = { descriptor, offset: 100, size };
  await fails(() => OrientationModel.load({ ...one(), source: { ...part, sha256: '0'.repeat(64) } }), 'corrupted');
  await fails(() => OrientationModel.load({ ...one(), source: { ...part, size: size * 2 } }), 'corrupted');
  await fails(() => OrientationModel.load({ ...one(), source: { ...part, descriptor: 2 ** 40 } }), 'bad-input');
  const folder = host.openDescriptor(plan.scratch);
  await fails(() => OrientationModel.load({ ...one(), source: { descriptor: folder } }), 'unreadable', 'not a file');
}

/** A folder with the package's files under their SHA-256. */
export async function loadsFromFolder() {
  const model = await OrientationModel.load({ ...one(), source: { folder: plan.folder } });
  const { passed } = await model.selfTest();
  await fails(() => SileroVad.load({ ...one(), source: { folder: plan.folder } }), 'missing');
  return { passed, file: model.info.file };
}

async function run(model) {
  const [name] = Object.keys(OrientationModel.descriptor.inputs);
  const [output] = Object.keys(OrientationModel.descriptor.outputs);
  return (await model.run({ [name]: { data: pixels(), shape: [1, 3, 224, 224] } }))[output].data;
}

/** Ends JavaScript while models are loaded and run; then begins anew. */
export async function endsAmidRuns() {
  const model = await OrientationModel.load(one());
  const [name] = Object.keys(OrientationModel.descriptor.inputs);
  for (let index = 0; index < 4; index += 1) {
    void model.run({ [name]: { data: new Float32Array(4 * PIXELS).fill(index), shape: [4, 3, 224, 224] } });
  }
  void SileroVad.load(one());
  void (await SileroVad.load(one())).run(speech());
  await later(plan.delay);
  return null;
}
