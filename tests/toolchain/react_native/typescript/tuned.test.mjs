import assert from 'node:assert/strict';
import { test } from 'node:test';
import { backend, load } from './package.mjs';

const { EveryType, setTuned } = await load('index.web.js');
const { chooseBackend } = await load('runtime/backend.js');

/** How the model is opened first on a device with that chip. */
async function opened(chip, options, platform = 'android') {
  const real = await backend();
  let first;
  const made = await backend({
    platform,
    device: { chip, apiLevel: 34 },
    about: () => ({ ...real.about(), runtimeVersion: EveryType.descriptor.platforms[platform].runtimeVersion, threads: 4 }),
    open: (request, model) => {
      first ??= request;
      return real.open({ ...request, provider: '' }, model);
    },
  });
  chooseBackend(() => made);
  const model = await EveryType.load(options);
  model.dispose();
  const { provider, providerKeys, providerValues, threads } = first;
  return [provider, threads, Object.fromEntries(providerKeys.map((key, index) => [key, providerValues[index]]))];
}

test('a chip has the settings that were measured for it', async () => {
  assert.deepEqual(await opened('SM8650'), ['XNNPACK', 3, { intra_op_num_threads: '2', own: '0' }]);
  assert.deepEqual(await opened('MT6765'), ['', 2, {}], 'the CPU alone');
  assert.deepEqual(await opened('iPhone17,1', {}, 'ios'), ['', 1, {}]);
});

test('other chips have the defaults of the package', async () => {
  for (const chip of ['', 'SM8750', 'iPhone17,1', 'constructor']) {
    assert.deepEqual(await opened(chip), ['XNNPACK', 0, { intra_op_num_threads: '4' }], chip);
  }
});

test('what an app sets stays', async () => {
  assert.deepEqual(await opened('SM8650', { threads: 1 }), ['XNNPACK', 1, { intra_op_num_threads: '2', own: '0' }]);
  assert.deepEqual(await opened('MT6765', { providers: ['xnnpack'] }), ['XNNPACK', 2, { intra_op_num_threads: '2' }]);
  const providerOptions = { xnnpack: { own: '1' } };
  assert.deepEqual(await opened('SM8650', { providerOptions }), ['XNNPACK', 3, { intra_op_num_threads: '2', own: '1' }]);
});

test('an app turns them off and on', async () => {
  setTuned(false);
  assert.deepEqual(await opened('MT6765'), ['XNNPACK', 0, { intra_op_num_threads: '4' }]);
  setTuned(true);
  assert.deepEqual(await opened('MT6765'), ['', 2, {}]);
});
