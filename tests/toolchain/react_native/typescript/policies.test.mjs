import assert from 'node:assert/strict';
import { test } from 'node:test';
import { backend, load, samples } from './package.mjs';

const { EveryType, ModelMetrics } = await load('index.web.js');
const { chooseBackend } = await load('runtime/backend.js');
const { loadModel } = await load('runtime/loading.js');

const { descriptor } = EveryType;

/** Lets go on what waits for nothing. */
const settled = () => new Promise((resolve) => setTimeout(resolve, 5));

/**
 * A phone whose XNNPACK is the CPU of the real ONNX Runtime, that fails when a test says so, and that can be short of
 * memory. Its native code reads inputs where they lie.
 */
async function phone() {
  const real = await backend();
  const state = { opened: [], closed: [], runs: [], threads: [], isHot: false, isLost: () => false, listeners: new Set(), fails: () => false, fault: () => new Error('[runtime] the GPU is gone'), opening: Promise.resolve() };
  const providers = new Map();
  chooseBackend(() => made);
  const made = await backend({
    platform: 'android',
    device: { chip: '', apiLevel: 34 },
    about: () => ({ runtimeVersion: descriptor.platforms.android.runtimeVersion, bundle: '', cache: '', threads: 4 }),
    open: async (request, model) => {
      await state.opening;
      const opened = await real.open({ ...request, provider: '' }, model);
      providers.set(opened.session, request.provider === '' ? 'cpu' : 'xnnpack');
      state.opened.push(providers.get(opened.session));
      state.threads.push(request.threads);
      return opened;
    },
    close: (session) => {
      state.closed.push(providers.get(session));
      real.close(session);
    },
    run: async (session, ...given) => {
      const provider = providers.get(session);
      state.runs.push(provider);
      if (state.fails(provider)) throw state.fault(provider);
      return real.run(session, ...given);
    },
    ...Object.fromEntries(['take', 'drop', 'cancel'].map((name) => [name, real[name]])),
    runSync: () => { throw new Error('[runtime] ran at once'); },
    worklet: () => ({}),
    isLost: (session) => state.isLost(session),
    isHot: () => state.isHot,
    onMemoryPressure: (listener) => {
      state.listeners.add(listener);
      return () => state.listeners.delete(listener);
    },
  });
  state.shortOfMemory = () => {
    for (const listener of [...state.listeners]) listener();
  };
  return state;
}

async function withModel({ of = descriptor, ...options }, work) {
  const state = await phone();
  const model = await loadModel(of, { providers: ['xnnpack'], ...options });
  try {
    await work(model, state);
  } finally {
    model.dispose();
  }
  assert.deepEqual([...state.closed].sort(), [...state.opened].sort(), 'what was opened is closed, once');
  assert.equal(state.listeners.size, 0);
}

const doubled = async (model, value, options) => {
  const found = await model.run({ ...samples(), scalar: new Float32Array([value]) }, options);
  return found.doubled.data[0];
};

/** Keeps what an observer is told. */
function recorder() {
  const told = [];
  const keep = (what, ...names) => (event) => void told.push([what, ...names.map((name) => event[name])]);
  const observer = {
    onLoad: keep('load', 'provider'),
    onRun: (event) => void told.push(['run', event.provider, event.error?.code ?? null, event.isRetry]),
    onRelease: keep('release', 'reason'),
  };
  return { told, observer };
}

test('a run that fails on a provider is repeated on the CPU, on the inputs of the call', () =>
  withModel({}, async (model, state) => {
    state.fails = (provider) => provider === 'xnnpack';
    const scalar = new Float32Array([4]);
    const rows = { data: new Float32Array([1, 2, 3, 4, 5, 6]), shape: [2, 3] };
    const running = model.run({ ...samples(), scalar, rows });
    scalar[0] = 99;
    rows.data.fill(0);
    const found = await running;
    assert.equal(found.doubled.data[0], 8);
    assert.deepEqual([...found.columns.data], [1, 4, 2, 5, 3, 6]);
    assert.deepEqual(state.runs, ['xnnpack', 'cpu']);
    assert.equal(model.provider, 'xnnpack');
    state.fails = () => false;
    assert.equal(await doubled(model, 5), 10);
    assert.deepEqual(state.runs.slice(2), ['xnnpack']);
    assert.deepEqual(state.opened, ['xnnpack', 'cpu']);
  }));

test('after three failures in a row a model stays on the CPU, and says why', async () => {
  const { told, observer } = recorder();
  await withModel({ observer }, async (model, state) => {
    state.fails = (provider) => provider === 'xnnpack';
    for (const value of [1, 2]) assert.equal(await doubled(model, value), 2 * value);
    state.fails = () => false;
    assert.equal(await doubled(model, 3), 6);
    state.fails = (provider) => provider === 'xnnpack';
    for (const value of [1, 2]) assert.equal(await doubled(model, value), 2 * value);
    assert.deepEqual([model.provider, model.fallbacks], ['xnnpack', []], 'not in a row');
    const into = { f32T: new Float32Array(6) };
    const { f32T } = await model.run(samples(), { into });
    assert.equal(f32T.data, into.f32T);
    assert.equal(model.provider, 'cpu');
    assert.deepEqual(model.fallbacks, [{ provider: 'xnnpack', reason: 'the GPU is gone' }]);
    assert.deepEqual(state.closed, ['cpu', 'xnnpack'], 'no second session stays beside the one that runs');
    const { length } = state.runs;
    assert.equal(await doubled(model, 7), 14);
    assert.deepEqual(state.runs.slice(length), ['cpu']);
    assert.equal((await model.selfTest()).provider, 'cpu');
  });
  assert.deepEqual(told.slice(0, 4), [
    ['load', 'xnnpack'],
    ['run', 'xnnpack', 'runtime', false],
    ['load', 'cpu'],
    ['run', 'cpu', null, true],
  ]);
  assert.deepEqual(told.at(-1), ['release', 'close']);
});

test('runs that wait together are all repeated, and the failed session is closed after the last', () =>
  withModel({}, async (model, state) => {
    state.fails = (provider) => provider === 'xnnpack';
    const found = await Promise.all([1, 2, 3, 4, 5].map((value) => doubled(model, value)));
    assert.deepEqual(found, [2, 4, 6, 8, 10]);
    assert.deepEqual([model.provider, model.fallbacks.length], ['cpu', 1]);
    await settled();
    assert.deepEqual(state.closed, ['xnnpack']);
    assert.deepEqual(state.opened, ['xnnpack', 'cpu']);
  }));

test('what is wrong with a call, or was cancelled, is not repeated', () =>
  withModel({}, async (model, state) => {
    await assert.rejects(model.run({}), (error) => error.code === 'bad-input');
    const controller = new AbortController();
    const running = doubled(model, 1, { signal: controller.signal });
    controller.abort();
    await assert.rejects(running, (error) => error.code === 'cancelled');
    state.fails = () => true;
    state.fault = (provider) => new Error(`[runtime] ${provider} is lost`);
    await assert.rejects(doubled(model, 1), ({ code, message, cause }) => {
      assert.deepEqual([code, message, cause.code, cause.message], ['runtime', 'cpu is lost', 'runtime', 'xnnpack is lost']);
      return true;
    });
    assert.deepEqual([model.provider, model.fallbacks], ['xnnpack', []], 'it is not the provider that fails');
    assert.deepEqual(state.closed, ['cpu'], 'its session does not stay for one call that nothing can run');
  }));

test('a call that is cancelled while the CPU is opened does not run there', () =>
  withModel({}, async (model, state) => {
    let open;
    state.fails = (provider) => provider === 'xnnpack';
    state.opening = new Promise((resolve) => (open = resolve));
    const controller = new AbortController();
    const running = doubled(model, 1, { signal: controller.signal });
    await settled();
    controller.abort();
    await assert.rejects(running, (error) => error.code === 'cancelled', 'at once');
    open();
    while (state.opened.length < 2) await settled();
    assert.deepEqual(state.runs, ['xnnpack']);
  }));

test('a call that is cancelled while the model is opened again ends at once, and the next one finds it open', () =>
  withModel({}, async (model, state) => {
    await doubled(model, 1);
    state.shortOfMemory();
    let open;
    state.opening = new Promise((resolve) => (open = resolve));
    const controller = new AbortController();
    const [running, other] = [doubled(model, 1, { signal: controller.signal }), doubled(model, 2)];
    controller.abort();
    await assert.rejects(running, (error) => error.code === 'cancelled');
    open();
    assert.equal(await other, 4);
    assert.deepEqual(state.opened, ['xnnpack', 'xnnpack']);
  }));

test('a model whose host has failed is opened again by its next run', () =>
  withModel({}, async (model, state) => {
    state.fails = () => true;
    state.fault = () => new Error('[host] the worker has failed');
    const found = await Promise.allSettled([doubled(model, 1), doubled(model, 2)]);
    assert.deepEqual(found.map(({ reason }) => reason?.code), ['host', 'host']);
    state.fails = () => false;
    state.isLost = (session) => session === model.serving.latest.outcome.opened.session && state.opened.length === 1;
    assert.deepEqual(await Promise.all([doubled(model, 3), doubled(model, 4)]), [6, 8]);
    assert.deepEqual(state.opened, ['xnnpack', 'xnnpack'], 'nothing is repeated on the CPU');
  }));

test('a self-test fails where the provider does', () =>
  withModel({}, async (model, state) => {
    assert.equal((await model.selfTest()).passed, true);
    state.fails = (provider) => provider === 'xnnpack';
    await assert.rejects(model.selfTest(), (error) => error.code === 'runtime');
    assert.deepEqual(state.opened, ['xnnpack']);
  }));

for (const options of [{ policies: { retryOnCpu: false } }, { providers: [] }]) {
  test(`nothing is repeated with ${JSON.stringify(options)}`, () =>
    withModel(options, async (model, state) => {
      state.fails = () => true;
      await assert.rejects(doubled(model, 1), (error) => error.code === 'runtime');
      assert.equal(state.runs.length, 1);
      assert.equal(state.opened.length, 1);
    }));
}

test('a model that nothing runs is released when memory is short, and opened again by its next run', async () => {
  const { told, observer } = recorder();
  await withModel({ observer }, async (model, state) => {
    state.shortOfMemory();
    assert.deepEqual(state.closed, [], 'it has not run yet');
    const underWay = doubled(model, 1);
    state.shortOfMemory();
    assert.deepEqual(state.closed, [], 'it runs');
    assert.equal(await underWay, 2);
    state.shortOfMemory();
    state.shortOfMemory();
    assert.deepEqual(state.closed, ['xnnpack']);
    assert.throws(() => model.runSync(samples()), (error) => error.code === 'unsupported');
    await assert.rejects(model.run({}), (error) => error.code === 'bad-input');
    const scalar = new Float32Array([3]);
    const again = [model.run({ ...samples(), scalar }), doubled(model, 4)];
    scalar[0] = 99;
    state.shortOfMemory();
    const [first, second] = await Promise.all(again);
    assert.deepEqual([first.doubled.data[0], second], [6, 8]);
    assert.deepEqual(state.opened, ['xnnpack', 'xnnpack'], 'once for both');
    assert.equal((await model.selfTest()).passed, true);
  });
  const others = told.filter(([what]) => what !== 'run');
  assert.deepEqual(others, [['load', 'xnnpack'], ['release', 'memory'], ['load', 'xnnpack'], ['release', 'close']]);
});

test('a model that is disposed of while it is opened again ends the run that waits for it, and leaves nothing behind', () =>
  withModel({}, async (model, state) => {
    await doubled(model, 1);
    state.shortOfMemory();
    let open;
    state.opening = new Promise((resolve) => (open = resolve));
    const running = doubled(model, 1);
    await settled();
    model.dispose();
    await assert.rejects(doubled(model, 2), (error) => error.code === 'disposed');
    open();
    assert.equal(await running, 2);
  }));

for (const [what, use] of [
  ['run at once', (model) => assert.throws(() => model.runSync(samples()), (error) => error.message === 'ran at once')],
  ['in a worklet', (model) => model.worklet()],
]) {
  test(`a model that is ${what} is not released`, () =>
    withModel({}, async (model, state) => {
      await doubled(model, 1);
      use(model);
      state.shortOfMemory();
      assert.deepEqual(state.closed, []);
      state.fails = (provider) => provider === 'xnnpack';
      for (const value of [1, 2, 3]) assert.equal(await doubled(model, value), 2 * value);
      assert.equal(model.provider, 'cpu');
      assert.deepEqual(state.closed, [], 'a worklet may still have it');
    }));
}

test('a model is not released if the app does not want it, nor from memory that the app may have given back', async () => {
  await withModel({ policies: { releaseOnMemoryPressure: false } }, async (model, state) => {
    assert.equal(state.listeners.size, 0);
    await doubled(model, 1);
  });
  const { bytesOf } = await import('./package.mjs');
  const buffer = await bytesOf(descriptor.platforms.android.files.at(-1).path);
  await withModel({ source: { buffer }, providers: ['xnnpack'] }, async (model, state) => {
    buffer.fill(0);
    assert.equal(state.listeners.size, 0);
    state.fails = () => true;
    await assert.rejects(doubled(model, 1), (error) => error.code === 'runtime');
    assert.equal(state.opened.length, 1);
  });
});

/** A clock that stands still between the steps of a test. */
function clock(t) {
  const real = globalThis.performance;
  const made = { seconds: 0, now: () => 1000 * made.seconds };
  Object.defineProperty(globalThis, 'performance', { value: made, configurable: true });
  t.after(() => Object.defineProperty(globalThis, 'performance', { value: real, configurable: true }));
  return made;
}

/** Waits until a model that is opened anew beside its runs is open, or has failed. */
async function changedOver(model) {
  while (model.serving.isSwapping) await settled();
}

async function runAt(time, seconds, model) {
  time.seconds = seconds;
  assert.equal(await doubled(model, seconds), 2 * seconds);
}

/** A run, and all that it has begun. */
async function runThrough(time, seconds, model) {
  await runAt(time, seconds, model);
  await changedOver(model);
}

test('a device that stays hot gives a model half the threads until it has been cool for a while', async (t) => {
  const time = clock(t);
  const { told, observer } = recorder();
  await withModel({ observer }, async (model, state) => {
    await runThrough(time, 1, model);
    for (const seconds of [2, 4, 6, 8, 10, 12, 14]) {
      state.isHot = !state.isHot;
      await runThrough(time, seconds, model);
    }
    assert.deepEqual(state.threads, [0], 'it changes every two seconds');
    state.isHot = true;
    await runThrough(time, 20, model);
    await runThrough(time, 25, model);
    assert.deepEqual(state.threads, [0, 2]);
    state.isHot = false;
    await runThrough(time, 30, model);
    await runThrough(time, 80, model);
    assert.deepEqual(state.threads, [0, 2]);
    await runThrough(time, 90, model);
    assert.deepEqual(state.threads, [0, 2, 0]);
  });
  const others = told.filter(([what]) => what !== 'run');
  const again = [['load', 'xnnpack'], ['release', 'thermal']];
  assert.deepEqual(others, [['load', 'xnnpack'], ...again, ...again, ['release', 'close']]);
});

test('no run waits while a hot device opens the model anew, and where that fails the session stays', async (t) => {
  const time = clock(t);
  await withModel({}, async (model, state) => {
    state.isHot = true;
    await runAt(time, 0, model);
    let open, fail;
    state.opening = new Promise((_, reject) => (fail = reject));
    await runAt(time, 1, model);
    await runAt(time, 11, model);
    fail(new Error('[network] the file is gone, and nobody is there'));
    await changedOver(model);
    assert.deepEqual([state.threads, state.closed], [[0], []]);
    state.opening = new Promise((resolve) => (open = resolve));
    await runAt(time, 12, model);
    await runAt(time, 22, model);
    assert.equal(await doubled(model, 23), 46, 'beside the opening');
    assert.deepEqual(state.threads, [0]);
    open();
    await changedOver(model);
    assert.deepEqual([state.threads, state.closed], [[0, 2], ['xnnpack']]);
    assert.equal(await doubled(model, 24), 48);
  });
});

test('a hot device changes nothing on a provider with no threads of ours', async (t) => {
  const time = clock(t);
  const nnapi = { provider: 'nnapi', registeredName: 'NNAPI', options: {} };
  const { android } = descriptor.platforms;
  const files = android.files.map((file) => ({ ...file, providers: ['nnapi', 'cpu'] }));
  const of = { ...descriptor, platforms: { ...descriptor.platforms, android: { ...android, providers: [nnapi], files } } };
  await withModel({ of, providers: ['nnapi'] }, async (model, state) => {
    assert.equal(model.provider, 'nnapi');
    state.isHot = true;
    for (const seconds of [0, 1, 100]) await runThrough(time, seconds, model);
    assert.deepEqual(state.threads, [0]);
  });
});

for (const options of [{ threads: 3 }, { policies: { fewerThreadsWhenHot: false } }]) {
  test(`a hot device changes nothing with ${JSON.stringify(options)}`, (t) =>
    withModel(options, async (model, state) => {
      const time = clock(t);
      state.isHot = true;
      for (const seconds of [0, 1, 100]) await runThrough(time, seconds, model);
      assert.equal(state.opened.length, 1);
    }));
}

test('a model that worklets may have keeps its session on a hot device', (t) =>
  withModel({}, async (model, state) => {
    const time = clock(t);
    state.isHot = true;
    await runAt(time, 0, model);
    await runAt(time, 1, model);
    let open;
    state.opening = new Promise((resolve) => (open = resolve));
    await runAt(time, 11, model);
    model.worklet();
    open();
    await changedOver(model);
    assert.deepEqual([state.threads, state.closed], [[0, 2], ['xnnpack']], 'what was opened since is closed');
    for (const seconds of [12, 100]) await runThrough(time, seconds, model);
    assert.equal(state.threads.length, 2);
  }));

test('policies are booleans with these names', async () => {
  await phone();
  for (const [policies, message] of [
    [5, 'policies is 5, which is not an object'],
    [null, 'policies is null, which is not an object'],
    [{ retry: true }, "unknown policy 'retry': there are retryOnCpu, fewerThreadsWhenHot, releaseOnMemoryPressure"],
    [{ retryOnCpu: 'yes' }, "policies.retryOnCpu is 'yes', which is neither true nor false"],
  ]) {
    await assert.rejects(loadModel(descriptor, { policies }), (error) => error.code === 'bad-options' && error.message === message);
  }
});

test('repeated runs are counted', async () => {
  const metrics = new ModelMetrics();
  await withModel({ observer: metrics }, async (model, state) => {
    state.fails = (provider) => provider === 'xnnpack';
    await doubled(model, 1);
    const [{ runs, errors, retries, latency, queue }] = metrics.snapshot();
    assert.deepEqual([runs, errors, retries, latency.count], [2, 1, 1, 1]);
    assert.equal(queue.count, 0, 'how long the repetition waited is not how long the call did');
  });
});

test('runs that are cancelled are no errors', async () => {
  const metrics = new ModelMetrics();
  await withModel({ observer: metrics }, async (model) => {
    const controller = new AbortController();
    const running = doubled(model, 1, { signal: controller.signal });
    controller.abort();
    await assert.rejects(running, (error) => error.code === 'cancelled');
    assert.equal(await doubled(model, 1), 2);
    const [{ runs, errors }] = metrics.snapshot();
    assert.deepEqual([runs, errors], [2, 0]);
  });
});
