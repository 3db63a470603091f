import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bytesOf, load, ort, samples } from './package.mjs';

const { EveryType, ModelMetrics } = await load('index.web.js');
const { setOnnxRuntime } = await load('runtime/onnxruntime.js');
const { Histogram } = await load('runtime/metrics.js');
setOnnxRuntime(ort, { read: bytesOf });

const SHARES = { p50: 0.5, p90: 0.9, p99: 0.99 };

/** The smallest duration that at least a share of all are not longer than. */
function exact(durations, share) {
  const sorted = [...durations].sort((one, other) => one - other);
  return sorted[Math.ceil(share * sorted.length) - 1];
}

/** Numbers from 0 to 1 that are the same each time. */
function* random(state) {
  for (;;) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    yield state / 2 ** 32;
  }
}

for (const count of [1, 2, 3, 10, 99, 100, 101, 5000]) {
  test(`percentiles of ${count} durations are at most 10 % too high and never too low`, () => {
    const numbers = random(count);
    const next = () => numbers.next().value;
    for (const [shortest, longest] of [[1e-6, 1e-6], [1e-6, 1e-4], [1e-4, 3], [0.016, 0.017], [1e-6, 900]]) {
      const histogram = new Histogram();
      const durations = Array.from({ length: count }, () => shortest * (longest / shortest) ** next());
      for (const each of durations) histogram.add(each);
      const found = histogram.durations();
      for (const [name, share] of Object.entries(SHARES)) {
        const right = exact(durations, share);
        assert.ok(found[name] >= right, `${name} of ${shortest} to ${longest}: ${found[name]} < ${right}`);
        assert.ok(found[name] <= right * 1.1000001, `${name} of ${shortest} to ${longest}: ${found[name]} > ${right}`);
      }
      assert.equal(found.count, count);
      assert.equal(found.min, Math.min(...durations));
      assert.equal(found.max, Math.max(...durations));
      assert.ok(Math.abs(found.mean - durations.reduce((sum, each) => sum + each) / count) < 1e-9 * count);
    }
  });
}

test('durations on the bounds of buckets, of nothing and of hours have percentiles too', () => {
  const bounds = Array.from({ length: 218 }, (_, index) => 1e-6 * 1.1 ** index);
  for (const each of [0, 1e-9, ...bounds, 5000]) {
    const histogram = new Histogram();
    histogram.add(each);
    const { p50, p99 } = histogram.durations();
    assert.deepEqual([p50, p99], [each, each]);
  }
  const none = { count: 0, mean: 0, min: 0, max: 0, p50: 0, p90: 0, p99: 0 };
  assert.deepEqual(new Histogram().durations(), none);
});

/** How often `work` has the clock read. */
async function readings(work) {
  const [clock, date] = [performance.now, Date.now];
  let count = 0;
  performance.now = () => ((count += 1), clock.call(performance));
  Date.now = () => ((count += 1), date());
  try {
    await work();
  } finally {
    performance.now = clock;
    Date.now = date;
  }
  return count;
}

test('no clock is read without an observer', async () => {
  const work = (options) => async () => {
    const model = await EveryType.load(options);
    await model.run(samples());
    model.dispose();
  };
  assert.equal(await readings(work({})), 0);
  assert.ok((await readings(work({ observer: {} }))) > 0);
});

test('times of a run are those of ONNX Runtime, and of the runs before it', async () => {
  const slow = {
    ...ort,
    InferenceSession: {
      create: async (...given) => {
        const session = await ort.InferenceSession.create(...given);
        const run = session.run.bind(session);
        session.run = async (feeds) => {
          await new Promise((resolve) => setTimeout(resolve, 50));
          return run(feeds);
        };
        return session;
      },
    },
  };
  setOnnxRuntime(slow, { read: bytesOf });
  const events = [];
  const metrics = new ModelMetrics();
  const model = await EveryType.load({ observer: { onRun: (event) => events.push(event) } });
  await Promise.all([model.run(samples()), model.run(samples())]);
  const [first, second] = events;
  assert.ok(first.queued < second.queued && first.duration >= 0.049, JSON.stringify(first));
  assert.ok(second.queued >= 0.049 && second.duration >= 0.049, JSON.stringify(second));
  assert.deepEqual(metrics.snapshot(), []);
  await assert.rejects(model.profile(samples()), (error) => error.code === 'unsupported');
  model.dispose();
  setOnnxRuntime(ort, { read: bytesOf });
});

test('errors and repeated runs are counted, and are no part of the latency', () => {
  const metrics = new ModelMetrics();
  const run = { model: 'x', provider: 'cpu', queued: 0, duration: 1, error: null, isRetry: false };
  metrics.onRun(run);
  metrics.onRun({ ...run, duration: 100, error: new Error('no') });
  metrics.onRun({ ...run, duration: 3, isRetry: true });
  const [found] = metrics.snapshot();
  assert.deepEqual([found.runs, found.errors, found.retries], [3, 1, 1]);
  assert.deepEqual([found.latency.count, found.latency.mean, found.latency.max], [2, 2, 3]);
  assert.deepEqual([found.provider, found.version, found.memory, found.loads], ['cpu', '', null, 0]);
  assert.ok(found.throughput > 0 && found.throughput <= 3, 'the first run took a second');
  const attributes = found.attributes();
  assert.equal('process.memory.usage' in attributes, false);
});

test('the provider is that of the last run that succeeded, or of the last load before any', () => {
  const metrics = new ModelMetrics();
  const provider = () => metrics.snapshot()[0]?.provider;
  const run = { model: 'x', provider: 'xnnpack', queued: 0, duration: 1, error: null, isRetry: false };
  metrics.onFailure({ model: 'x', error: new Error('no') });
  assert.equal(provider(), null);
  metrics.onLoad({ model: 'x', version: '1', provider: 'xnnpack', fallbacks: [], duration: 1, memory: null });
  assert.equal(provider(), 'xnnpack');
  metrics.onLoad({ model: 'x', version: '1', provider: 'cpu', fallbacks: [], duration: 1, memory: null });
  metrics.onRun({ ...run, error: new Error('no') });
  assert.equal(provider(), 'cpu', 'a session for retries was opened');
  metrics.onRun(run);
  assert.equal(provider(), 'xnnpack');
});

test('memory is not told where nobody knows it, and a failure has the code of its error', async () => {
  const events = [];
  const observer = { onLoad: (event) => events.push(event), onFailure: (event) => events.push(event) };
  (await EveryType.load({ observer })).dispose();
  await assert.rejects(EveryType.load({ observer, source: { buffer: new Uint8Array(9) } }));
  const [loaded, failed] = events;
  assert.equal(loaded.memory, null);
  assert.equal(failed.error.code, 'runtime');
  assert.equal(failed.model, loaded.model);
});
