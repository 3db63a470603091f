// Cases on observers of models, and on ONNX Runtime's traces.

import { EveryType, ModelMetrics, OrientationModel, SileroVad } from '@example/models';

import { check, equal, fails, later, untilMet } from './checks.js';

const PIXELS = 3 * 224 * 224;
const [INPUT] = Object.keys(OrientationModel.descriptor.inputs);
const page = (pages = 1) => ({ [INPUT]: { data: new Float32Array(pages * PIXELS).fill(0.5), shape: [pages, 3, 224, 224] } });
const speech = () => ({ input: new Float32Array(576).fill(0.1), state: new Float32Array(256), sr: new BigInt64Array([16000n]) });

/** Keeps all that it is told. */
function recorder() {
  const events = [];
  const keep = (what) => (event) => void events.push({ what, ...event });
  return { events, onLoad: keep('load'), onRun: keep('run'), onFailure: keep('failure'), onRelease: keep('release') };
}

/** The clock that models read, in seconds. */
const clock = () => (globalThis.performance ?? Date).now() / 1000;

/** Two runs at once, of which the second waits for the first. Times in seconds. */
export async function observes() {
  const observer = recorder();
  const before = clock();
  const model = await OrientationModel.load({ threads: 1, observer });
  const load = clock() - before;
  const inputs = page(8);
  const started = host.now();
  const calls = [model.run(inputs), model.run(inputs)];
  const asked = (host.now() - started) / 1000;
  await Promise.all(calls);
  const runs = (host.now() - started) / 1000;
  model.runSync(page());
  const [waited, cancelled] = await cancelledTimes(model, observer.events);
  model.dispose();
  model.dispose();
  await fails(() => model.run(page()), 'disposed');
  await fails(() => OrientationModel.load({ observer, source: { buffer: new Uint8Array(100) } }), 'runtime');
  const events = observer.events.map(({ error, ...event }) => ({ ...event, error: error?.code ?? null }));
  return { events, load, asked, runs, waited, cancelled, resident: host.residentBytes() };
}

/** Cancels a run: how long after its call that was, and how long until it had ended. Events of runs that end first go. */
async function cancelledTimes(model, events) {
  const told = events.length;
  const times = [];
  await untilMet(async (wait) => {
    events.length = told;
    const controller = new AbortController();
    const before = clock();
    const ending = model.run(page(8), { signal: controller.signal }).then(() => 'whole', (error) => error.code);
    const called = clock();
    await later(4 + wait);
    times.splice(0, 2, clock() - called);
    controller.abort();
    const code = await ending;
    times.push(clock() - before);
    return code === 'cancelled';
  });
  return times;
}

/** Without an observer native code reads no clock, and the model tells nothing. */
export async function timesOnlyWhatIsAsked() {
  const asked = [];
  for (const observer of [undefined, recorder()]) {
    const model = await SileroVad.load({ threads: 1, ...(observer === undefined ? {} : { observer }) });
    const { outcome } = model.serving.latest;
    const { backend } = outcome;
    outcome.backend = { ...backend, run: async (...given) => {
      const ran = await backend.run(...given);
      asked.push([given[5], ran.queued > 0, ran.duration > 0]);
      return ran;
    } };
    await model.run(speech());
    model.dispose();
  }
  equal(asked, [[false, false, false], [true, true, true]], 'times that were asked for, and times that came');
}

/** An observer that throws ends nothing. */
export async function throwingObservers() {
  const logged = [];
  const { error } = console;
  console.error = (thrown) => void logged.push(thrown.message);
  const thrower = (what) => () => { throw new Error(what); };
  const observer = { onLoad: thrower('load'), onRun: thrower('run'), onRelease: thrower('release') };
  const model = await SileroVad.load({ threads: 1, observer });
  const { output } = await model.run(speech());
  equal(model.runSync(speech()).output, output, 'what a run gives');
  model.dispose();
  console.error = error;
  equal(logged, ['load', 'run', 'run', 'release'], 'what is logged');
  await fails(() => SileroVad.load({ observer: 'loud' }), 'bad-options', 'observer');
}

/** Two models under one collector, and how long it took to ask for two runs of the first, in seconds. */
export async function counts() {
  const metrics = new ModelMetrics();
  const page1 = await OrientationModel.load({ threads: 1, observer: metrics });
  const voice = await SileroVad.load({ threads: 1, observer: metrics });
  for (let run = 0; run < 20; run += 1) await voice.run(speech());
  const inputs = page();
  const started = host.now();
  const calls = [page1.run(inputs), page1.run(inputs)];
  const asked = (host.now() - started) / 1000;
  await Promise.all(calls);
  await fails(() => OrientationModel.load({ observer: metrics, source: { buffer: new Uint8Array(100) } }), 'runtime');
  const found = metrics.snapshot().map((each) => ({ ...each, attributes: each.attributes() }));
  for (const each of [page1, voice]) each.dispose();
  return { found, asked };
}

/** The paths of traces of a model of the package and of one in memory, which the app has overwritten since. */
export async function profiles() {
  const bytes = host.read(plan.own);
  const paths = [];
  for (const [name, source] of [['packaged', 'bundled'], ['memory', { buffer: bytes }]]) {
    const model = await OrientationModel.load({ threads: 1, source });
    if (source !== 'bundled') new Uint8Array(bytes).fill(0);
    const before = model.runSync(page());
    paths.push([name, await model.profile(page(), plan.runs)]);
    equal(model.runSync(page()), before, 'the model is as it was');
    for (const runs of [0, 1.5, -1, '3', 1e9]) await fails(() => model.profile(page(), runs), 'bad-options');
    await fails(() => model.profile({}), 'bad-input');
    model.dispose();
    await fails(() => model.profile(page()), 'disposed');
  }
  return Object.fromEntries(paths);
}

/** Every type of tensor, strings among them, and a model that is disposed of while its trace is written. */
export async function profilesEveryType() {
  const six = (type) => new type(6);
  const inputs = {
    f32: six(Float32Array), f64: six(Float64Array), f16: six(Uint16Array), i8: six(Int8Array), i16: six(Int16Array),
    i32: six(Int32Array), i64: six(BigInt64Array), u8: six(Uint8Array), flag: six(Uint8Array),
    word: ['a', 'b', 'c', 'd', 'e', 'f'], scalar: new Float32Array(1), rows: { data: new Float32Array(6), shape: [2, 3] },
  };
  const model = await EveryType.load({ threads: 1 });
  const path = model.profile(inputs);
  model.dispose();
  const ended = await path.then((found) => typeof found, (error) => error.code);
  check(['string', 'disposed'].includes(ended), `it ends: ${ended}`);
  const again = await EveryType.load({ threads: 1 });
  return again.profile(inputs);
}
