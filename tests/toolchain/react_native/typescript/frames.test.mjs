import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { bytesOf, load, ort, samples } from './package.mjs';

const { EveryType } = await load('index.web.js');
const { setOnnxRuntime } = await load('runtime/onnxruntime.js');
const { latestOf } = await load('runtime/frames.js');
setOnnxRuntime(ort, { read: bytesOf });

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const frame = (number) => ({ ...samples(), scalar: new Float32Array([number]) });

/** A source that is fed by hand, and that says whether it was ended. */
function feed() {
  const waiting = [];
  const items = [];
  const source = {
    isReturned: false,
    push: (value) => settle({ done: false, value }),
    end: () => settle({ done: true, value: undefined }),
    fail: (error) => settle(Promise.reject(error)),
    next: () => (items.length > 0 ? Promise.resolve(items.shift()) : new Promise((resolve) => waiting.push(resolve))),
    return: async () => {
      source.isReturned = true;
      return { done: true, value: undefined };
    },
  };
  const settle = (item) => {
    if (waiting.length > 0) waiting.shift()(item);
    else items.push(item);
  };
  return source;
}

/** A call that a test lets end, and what it was called with. */
function manual() {
  const calls = [];
  const call = (value, signal) =>
    new Promise((resolve, reject) => {
      calls.push({ value, signal, end: () => resolve(value * 10), fail: reject });
      signal.addEventListener('abort', () => reject(new Error('aborted')));
    });
  return { calls, call };
}

/** Lets promises go on that nothing holds up. */
const settled = () => sleep(1);

test('frames of a model are its results, in order, to the end of the source', async () => {
  const model = await EveryType.load();
  let answered;
  async function* source() {
    for (const number of [1, 2, 3]) {
      const answer = new Promise((resolve) => (answered = resolve));
      yield frame(number);
      await answer;
    }
  }
  const found = [];
  for await (const { doubled } of model.frames(source())) {
    found.push(doubled.data[0]);
    answered();
  }
  assert.deepEqual(found, [2, 4, 6]);
  model.dispose();
});

test('of frames that come while the model is busy the last one is next', async () => {
  const [source, { calls, call }] = [feed(), manual()];
  const frames = latestOf(source, call);
  const first = frames.next();
  for (const number of [1, 2]) source.push(number);
  await settled();
  assert.deepEqual(calls.map(({ value }) => value), [1], 'the first');
  for (const number of [3, 4, 5]) source.push(number);
  await settled();
  assert.equal(calls.length, 1, 'one call at a time');
  calls[0].end();
  assert.deepEqual(await first, { done: false, value: 10 });
  source.push(6);
  await settled();
  const [second, third] = [frames.next(), frames.next()];
  await settled();
  assert.deepEqual(calls.map(({ value }) => value), [1, 6], 'the latest, whoever asked when');
  source.push(7);
  source.end();
  calls[1].end();
  await settled();
  calls[2].end();
  assert.deepEqual(await Promise.all([second, third]), [{ done: false, value: 60 }, { done: false, value: 70 }]);
  assert.deepEqual(await frames.next(), { done: true, value: undefined });
  assert.deepEqual(await frames.next(), { done: true, value: undefined });
  assert.equal(source.isReturned, false, 'it ended by itself');
});

test('nothing is read before the first result is asked for', async () => {
  const source = feed();
  let reads = 0;
  const { next } = source;
  source.next = () => ((reads += 1), next());
  const frames = latestOf(source, manual().call);
  await settled();
  assert.equal(reads, 0);
  void frames.next();
  await settled();
  assert.equal(reads, 1);
});

test('leaving a loop ends the source, and the call that is under way', async () => {
  const [source, { calls, call }] = [feed(), manual()];
  const frames = latestOf(source, call);
  source.push(1);
  const pending = frames.next();
  await settled();
  assert.equal(calls[0].signal.aborted, false);
  assert.deepEqual(await frames.return(), { done: true, value: undefined });
  assert.equal(calls[0].signal.aborted, true);
  assert.deepEqual(await pending, { done: true, value: undefined });
  assert.equal(source.isReturned, true);
  source.push(2);
  assert.deepEqual(await frames.next(), { done: true, value: undefined });
  assert.equal(calls.length, 1);

  const quick = feed();
  quick.push(3);
  for await (const result of latestOf(quick, async (value) => value)) {
    assert.equal(result, 3);
    break;
  }
  assert.equal(quick.isReturned, true);
});

test('a loop that is left does not wait for a source that has no frame', async () => {
  async function* source() {
    yield 1;
    await new Promise(() => undefined);
  }
  for await (const result of latestOf(source(), async (value) => value)) {
    assert.equal(result, 1);
    break;
  }
});

test('an error of a call ends the source, and an error of the source ends the results', async () => {
  const [source, { calls, call }] = [feed(), manual()];
  const frames = latestOf(source, call);
  const next = frames.next();
  source.push(1);
  await settled();
  calls[0].fail(new Error('no kernel'));
  await assert.rejects(next, /no kernel/);
  assert.equal(source.isReturned, true);
  assert.deepEqual(await frames.next(), { done: true, value: undefined });

  const broken = feed();
  const others = latestOf(broken, async (value) => value);
  broken.push(1);
  assert.deepEqual(await others.next(), { done: false, value: 1 });
  broken.fail(new Error('no camera'));
  await assert.rejects(others.next(), /no camera/);
  assert.deepEqual(await others.next(), { done: true, value: undefined });
});

test('a source that cannot be ended well is told of, and ends nothing', async () => {
  const source = { ...feed(), return: () => Promise.reject(new Error('stuck')) };
  const logged = [];
  const { error } = console;
  console.error = (thrown) => logged.push(thrown.message);
  await latestOf(source, manual().call).return();
  await settled();
  console.error = error;
  assert.deepEqual(logged, ['stuck']);
});

test('a model that was disposed of ends its frames', async () => {
  const model = await EveryType.load();
  const source = feed();
  const frames = model.frames(source);
  source.push(frame(1));
  assert.equal((await frames.next()).value.doubled.data[0], 2);
  model.dispose();
  source.push(frame(2));
  await assert.rejects(frames.next(), (error) => error.code === 'disposed');
  assert.equal(source.isReturned, true);
});

test('an engine without the symbol has for await by the name that Babel looks for', async () => {
  const require = createRequire(path.join(process.env.PACKAGE, 'package.json'));
  const file = path.join(process.env.PACKAGE, 'lib', 'runtime', 'frames.js');
  const babel = require('@babel/runtime/helpers/asyncIterator');
  const real = globalThis.Symbol;
  globalThis.Symbol = new Proxy(() => undefined, { get: (_, name) => (name === 'asyncIterator' ? undefined : real[name]) });
  try {
    const { latestOf: made } = await import(`${pathToFileURL(file).href}?without`);
    const source = feed();
    const frames = made({ '@@asyncIterator': () => source }, async (value) => value + 1);
    source.push(1);
    const iterator = babel(frames);
    assert.deepEqual(await iterator.next(), { done: false, value: 2 });
    assert.equal(real.asyncIterator in frames, false);
    await iterator.return();
    assert.equal(source.isReturned, true);
  } finally {
    globalThis.Symbol = real;
  }
});
