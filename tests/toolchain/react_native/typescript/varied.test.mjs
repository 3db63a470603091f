import assert from 'node:assert/strict';
import { test } from 'node:test';
import { backend, load } from './package.mjs';

// `PlainModel` is a class of the runtime.
const { Chain, Plain, setTuned } = await load('index.web.js');
const { chooseBackend } = await load('runtime/backend.js');

const FAILED = ' it does not start here';
const NO_FILE = ' the package has no file of the model for it';

/** The file that is opened on a device with that chip, and whether it computes what its samples say. */
async function opened(definition, chip, options, platform = 'android') {
  const real = await backend();
  const device = Object.assign(Object.create(real), {
    platform,
    device: { chip, apiLevel: 34 },
    about: () => ({ ...real.about(), runtimeVersion: Chain.descriptor.platforms[platform].runtimeVersion }),
    open: (request, model) => {
      if (request.provider === '') return real.open(request, model);
      return Promise.reject(new Error(`[runtime]${FAILED}`));
    },
  });
  chooseBackend(() => device);
  const model = await definition.load(options);
  const { passed } = await model.selfTest();
  const found = [model.info.file, passed, ...model.fallbacks.map(({ provider, reason }) => `${provider} ${reason}`)];
  model.dispose();
  return found;
}

test('a chip opens the variant that was the fastest on it, and no file of another', async () => {
  assert.deepEqual(await opened(Chain, 'SM8650'), ['chain-int8.ort.tflite', true, `xnnpack${NO_FILE}`]);
  assert.deepEqual(await opened(Chain, 'iPhone17,1', {}, 'ios'), ['chain-int8.ort.tflite', true, `coreml${NO_FILE}`]);
});

test('other chips, and those of another platform, open what the package has for all', async () => {
  for (const chip of ['', 'SM8750', 'iPhone17,1', 'constructor']) {
    assert.deepEqual(await opened(Chain, chip), ['chain.ort.tflite', true, `xnnpack${FAILED}`], chip);
  }
  assert.deepEqual(await opened(Chain, 'SM8650', {}, 'ios'), ['chain.ort.tflite', true, `coreml${FAILED}`]);
});

test('an app that sets providers, or turns settings off, gets the variant of all', async () => {
  assert.deepEqual(await opened(Chain, 'SM8650', { providers: ['cpu'] }), ['chain.ort.tflite', true]);
  assert.deepEqual(await opened(Chain, 'SM8650', { threads: 1 }), ['chain-int8.ort.tflite', true, `xnnpack${NO_FILE}`]);
  setTuned(false);
  assert.deepEqual(await opened(Chain, 'SM8650'), ['chain.ort.tflite', true, `xnnpack${FAILED}`]);
  setTuned(true);
});

test('the self-test is about the file that is open', async () => {
  // The samples of the variant of `plain` are those of another model.
  assert.deepEqual(await opened(Plain, 'SM8650'), ['plain-int8.ort.tflite', false, `xnnpack${NO_FILE}`]);
  assert.deepEqual(await opened(Plain, ''), ['chain.ort.tflite', true, `xnnpack${FAILED}`], 'the bytes of both models are the same');
});

test('an app sees all files that it may download', () => {
  const { files } = Chain.descriptor.platforms.android;
  assert.deepEqual(
    files.map(({ path, chips }) => [path, chips]),
    [['chain.ort.tflite', []], ['chain-int8.ort.tflite', ['SM8650']]],
  );
});
