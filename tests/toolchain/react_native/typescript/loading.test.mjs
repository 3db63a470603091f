import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { backend, bytesOf, load } from './package.mjs';

const { EveryType, ModelError } = await load('index.web.js');
const { chooseBackend, currentBackend, provideBackend } = await load('runtime/backend.js');
const { loadModel } = await load('runtime/loading.js');
const { makeNativeBackend } = await load('runtime/native.js');

const { descriptor } = EveryType;
const SESSIONS = [];
const OPTIONS = 'source, providers, proof, providerOptions, threads, spinning, queue, observer, policies, verify, signal, onProgress, allowOtherRuntime';

/**
 * A phone with these properties. It runs models with the real ONNX Runtime, which has the CPU alone: its JavaScript
 * API would not say so, native code does.
 */
async function onPhone(changes = {}) {
  const requests = [];
  const closed = [];
  const real = await backend();
  const phone = await backend({
    platform: 'android',
    device: { chip: '', apiLevel: 34 },
    about: () => ({ runtimeVersion: runtimeVersion(), bundle: '/app', cache: '', threads: 4 }),
    open: (request, model) => {
      requests.push(request);
      if (request.provider === '') return real.open(request, model);
      return Promise.reject(
        new Error(`[runtime] ${request.provider} execution provider is not supported in this build.`),
      );
    },
    close: (session) => {
      closed.push(session);
      real.close(session);
    },
    ...changes,
  });
  chooseBackend(() => phone);
  return { requests, closed };
}

function runtimeVersion() {
  return descriptor.platforms.android.runtimeVersion;
}

/** The descriptor with other properties on a platform. */
function withPlatform(name, changes) {
  return {
    ...descriptor,
    platforms: { ...descriptor.platforms, [name]: { ...descriptor.platforms[name], ...changes } },
  };
}

async function loaded(model, options = {}) {
  const found = await loadModel(model, options);
  SESSIONS.push(found);
  return found;
}

function refusal(code, message) {
  return (error) => {
    assert.ok(error instanceof ModelError, String(error));
    assert.equal(error.message, message);
    assert.equal(error.code, code);
    return true;
  };
}

test.afterEach(() => {
  for (const model of SESSIONS.splice(0)) model.dispose();
});

test('nothing runs models until it is provided, and what is chosen wins whatever comes first', async () => {
  assert.throws(
    () => currentBackend(),
    (error) => error.code === 'unsupported' && error.message.includes('setOnnxRuntime'),
  );
  const [chosen, provided] = [{}, {}];
  provideBackend(() => provided);
  assert.equal(currentBackend(), provided);
  chooseBackend(() => chosen);
  provideBackend(() => provided);
  assert.equal(currentBackend(), chosen);
});

test('providers are tried in turn, and the CPU runs what no other starts', async () => {
  const { requests } = await onPhone();
  const model = await loaded(descriptor);
  assert.deepEqual(
    requests.map((request) => request.provider),
    ['XNNPACK', ''],
  );
  assert.equal(model.provider, 'cpu');
  const reason = 'XNNPACK execution provider is not supported in this build.';
  assert.deepEqual(model.fallbacks, [{ provider: 'xnnpack', reason }]);
  const { name, version, sha256, path } = { ...descriptor, ...descriptor.platforms.android.files.at(-1) };
  const { sizeBytes, ...info } = model.info;
  assert.deepEqual(info, { name, version, file: path, sha256, onnxRuntimeVersion: runtimeVersion(), proofs: [] });
  assert.equal(sizeBytes, (await bytesOf(path)).length);
});

test('memory that is not there is told apart from what else ONNX Runtime reports', async () => {
  for (const [words, code] of [
    ['[out-of-memory] there is not enough memory', 'out-of-memory'],
    ['[runtime] std::bad_alloc', 'out-of-memory'],
    ['[runtime] BFCArena: Failed to allocate memory for requested buffer of size 9', 'out-of-memory'],
    ['Array buffer allocation failed', 'out-of-memory'],
    ['[runtime] no kernel', 'runtime'],
    ['[host] it was ended', 'host'],
  ]) {
    const tried = [];
    await onPhone({
      open: (request) => {
        tried.push(request.provider);
        return Promise.reject(new Error(words));
      },
    });
    await assert.rejects(loadModel(descriptor), (error) => error.code === code, words);
    assert.deepEqual(tried, code === 'host' ? ['XNNPACK'] : ['XNNPACK', ''], 'another provider may need less');
  }
});

test('an app chooses the providers: those without a file are passed over, and each is tried once', async () => {
  const { requests } = await onPhone();
  const model = await loaded(descriptor, { providers: ['cpu', 'qnn', 'qnn', 'xnnpack'] });
  assert.deepEqual(
    requests.map((request) => request.provider),
    ['XNNPACK', ''],
  );
  assert.deepEqual(
    model.fallbacks.map(({ provider }) => provider),
    ['qnn', 'xnnpack'],
  );
  assert.equal(model.fallbacks[0].reason, 'the package has no file of the model for it');
  const cpu = await onPhone();
  assert.deepEqual((await loaded(descriptor, { providers: [] })).fallbacks, []);
  assert.deepEqual(
    cpu.requests.map((request) => request.provider),
    [''],
  );
});

test('files are checked once unless the app wants it always, and their ends are known from the build', async () => {
  const { requests } = await onPhone();
  for (const options of [{}, { verify: 'once' }, { verify: 'always' }]) {
    await loaded(descriptor, { providers: [], ...options });
  }
  assert.deepEqual(
    requests.map(({ verify }) => verify),
    ['once', 'once', 'always'],
  );
  const content = await bytesOf(descriptor.platforms.android.files.at(-1).path);
  const block = 64 * 1024;
  const ends = Buffer.concat([content.subarray(0, block), content.subarray(block).subarray(-block)]);
  const digest = (bytes) => createHash('sha256').update(bytes).digest('hex');
  const [{ file }] = requests;
  assert.deepEqual([file.sha256, file.endsSha256], [digest(content), digest(ends)]);
});

test('XNNPACK has threads of its own, as many as the app says or as the device has for a run', async () => {
  const { requests } = await onPhone();
  await loaded(descriptor);
  await loaded(descriptor, { threads: 3 });
  await loaded(descriptor, { threads: 3, providerOptions: { xnnpack: { intra_op_num_threads: '2' } } });
  const told = requests.filter(({ provider }) => provider === 'XNNPACK');
  assert.deepEqual(
    told.map(({ threads, providerKeys, providerValues }) => [threads, ...providerKeys, ...providerValues]),
    [
      [0, 'intra_op_num_threads', '4'],
      [3, 'intra_op_num_threads', '3'],
      [3, 'intra_op_num_threads', '2'],
    ],
  );
  assert.ok(requests.every(({ spinning }) => !spinning));
  assert.deepEqual(
    requests.filter(({ provider }) => provider === '').map(({ threads, settingKeys }) => [threads, settingKeys]),
    [
      [0, []],
      [3, []],
      [3, []],
    ],
  );
});

test('threads spin only where the app says so', async () => {
  const { requests } = await onPhone();
  await loaded(descriptor, { providers: ['cpu'], spinning: true });
  assert.deepEqual(
    requests.map(({ spinning }) => spinning),
    [true],
  );
  await assert.rejects(loaded(descriptor, { spinning: 1 }), { code: 'bad-options' });
});

/** Nodes that ONNX Runtime has not recorded, ten MACs each. */
function unrecorded(nodes) {
  return { provider: '', nodes, macs: 10 * nodes };
}

test('a provider that took no node is closed, and the next one is tried', async () => {
  const cpu = { provider: 'CPUExecutionProvider', nodes: 7, macs: 1e9 };
  const real = await backend();
  const open = async (request, model) => ({
    ...(await real.open({ ...request, provider: '', providerKeys: [], providerValues: [] }, model)),
    assignment: [cpu, unrecorded(0)],
  });
  const { closed } = await onPhone({ open });
  const model = await loaded(descriptor);
  assert.equal(model.provider, 'cpu');
  assert.deepEqual(model.fallbacks.at(-1), { provider: 'xnnpack', reason: 'took no node of the model' });
  assert.equal(closed.length, model.fallbacks.filter(({ reason }) => reason === 'took no node of the model').length);
  assert.deepEqual(model.assignment, [{ ...cpu, provider: 'cpu' }]);
});

test('a provider that took some nodes runs the model, and the CPU the others', async () => {
  const taken = { provider: 'XnnpackExecutionProvider', nodes: 3, macs: 2e9 };
  const left = { provider: 'CPUExecutionProvider', nodes: 4, macs: 0 };
  const real = await backend();
  const open = async (request, model) => ({
    ...(await real.open({ ...request, provider: '', providerKeys: [], providerValues: [] }, model)),
    assignment: [left, taken, unrecorded(2)],
  });
  await onPhone({ open });
  const model = await loaded(descriptor, { providers: ['xnnpack'] });
  assert.deepEqual([model.provider, model.fallbacks], ['xnnpack', []]);
  assert.deepEqual(model.assignment, [
    { ...left, provider: 'cpu' },
    { provider: 'xnnpack', nodes: 5, macs: 2e9 + 20 },
  ]);
});

test('of a provider that lays nodes out anew nothing is known where nobody has counted', async () => {
  const real = await backend();
  const open = async (request, model) => ({
    ...(await real.open({ ...request, provider: '', providerKeys: [], providerValues: [] }, model)),
    assignment: [{ provider: 'CPUExecutionProvider', nodes: 7, macs: 0 }],
  });
  await onPhone({ open });
  const model = await loaded(descriptor, { providers: ['xnnpack'] });
  assert.deepEqual([model.provider, model.assignment], ['xnnpack', undefined]);
});

test('what nobody knows of an assignment is undefined', async () => {
  await onPhone();
  assert.equal((await loaded(descriptor)).assignment, undefined);
});

test('NNAPI is not started on an Android that has none', async () => {
  const nnapi = { provider: 'nnapi', registeredName: 'NNAPI', options: { CPU_DISABLED: '1' } };
  const files = descriptor.platforms.android.files.map((file) => ({ ...file, providers: ['nnapi', 'cpu'] }));
  const model = withPlatform('android', { providers: [nnapi], files: files.slice(-1) });
  const old = await onPhone({ device: { chip: '', apiLevel: 26 } });
  const reason = 'NNAPI needs API level 27, this device has 26';
  assert.deepEqual((await loaded(model)).fallbacks, [{ provider: 'nnapi', reason }]);
  assert.deepEqual(
    old.requests.map(({ provider }) => provider),
    [''],
  );
  const { requests } = await onPhone({ device: { chip: '', apiLevel: 27 } });
  await loaded(model, { providerOptions: { nnapi: { USE_FP16: '1' } } });
  const [{ provider, providerKeys, threads }] = requests;
  assert.deepEqual([provider, providerKeys, threads], ['NNAPI', ['CPU_DISABLED', 'USE_FP16'], 0]);
});

test("an app unsets the package's flags of NNAPI with '0'", async () => {
  const nnapi = { provider: 'nnapi', registeredName: 'NNAPI', options: { CPU_DISABLED: '1', USE_FP16: '1' } };
  const files = descriptor.platforms.android.files.map((file) => ({ ...file, providers: ['nnapi', 'cpu'] }));
  const model = withPlatform('android', { providers: [nnapi], files: files.slice(-1) });
  const { requests } = await onPhone({ device: { chip: '', apiLevel: 27 } });
  await loaded(model, { providerOptions: { nnapi: { CPU_DISABLED: '0' } } });
  const [{ providerKeys, providerValues }] = requests;
  assert.deepEqual([providerKeys, providerValues], [['USE_FP16'], ['1']]);
  await assert.rejects(loaded(model, { providerOptions: { nnapi: { CPU_DISABLED: 'false' } } }), {
    code: 'bad-options',
    message: "providerOptions.nnapi.CPU_DISABLED is 'false', which is neither '0' nor '1'",
  });
});

test('CoreML has a folder for what it compiles, and those of other files are removed', async () => {
  const made = [];
  const about = () => ({ runtimeVersion: runtimeVersion(), bundle: '/app', cache: '/caches', threads: 2 });
  const makeFolder = async (...folder) => void made.push(folder);
  const { requests } = await onPhone({
    platform: 'ios',
    about,
    makeFolder,
    locate: async (path) => ({ path, offset: 0 }),
  });
  await loaded(descriptor, { providerOptions: { coreml: { MLComputeUnits: 'CPUOnly' } } });
  const names = descriptor.platforms.ios.files.map(({ sha256 }) => `${sha256}-${runtimeVersion()}`);
  const folder = `/caches/${descriptor.name}/${names[0]}`;
  assert.deepEqual(made, [[folder, names]]);
  const [{ provider, providerKeys, providerValues }] = requests;
  const told = Object.fromEntries(providerKeys.map((key, index) => [key, providerValues[index]]));
  assert.equal(provider, 'CoreML');
  assert.equal(told.ModelCacheDirectory, folder);
  assert.equal(told.MLComputeUnits, 'CPUOnly');
  assert.equal(told.ModelFormat, 'MLProgram');
});

test("what CoreML compiles of a release, or of an app's own file, takes no other's place", async () => {
  const made = [];
  const about = () => ({ runtimeVersion: runtimeVersion(), bundle: '/app', cache: '/caches', threads: 2 });
  const makeFolder = async (...folder) => void made.push(folder);
  await onPhone({ platform: 'ios', about, makeFolder, locate: async (path) => ({ path, offset: 0 }) });
  const [{ path, sha256 }] = descriptor.platforms.ios.files;
  const folder = `/caches/${descriptor.name}-${sha256}/${sha256}-${runtimeVersion()}`;
  await loaded({ ...descriptor, isReleased: true });
  const real = await backend();
  await onPhone({
    platform: 'ios',
    about,
    makeFolder,
    open: (request, model) => real.open({ ...request, provider: '', file: { ...request.file, path } }, model),
  });
  await loaded(descriptor, { source: { path: `/own/${path}`, sha256 } });
  assert.deepEqual(made, [[folder, [`${sha256}-${runtimeVersion()}`]], [folder, [`${sha256}-${runtimeVersion()}`]]]);
});

test('downloads of models that are open are not removed: they may be opened again', async () => {
  const removed = [];
  const { removeDownloads } = await load('runtime/sources.js');
  const real = await backend();
  const nameOf = (path) => path.slice(path.lastIndexOf('/') + 1).slice('-'.length + 64);
  const file = descriptor.platforms.android.files.at(-1);
  await onPhone({
    about: () => ({ runtimeVersion: runtimeVersion(), bundle: '', cache: '/caches', threads: 4 }),
    fileSize: () => file.sizeBytes,
    makeFolder: async (folder, keep) => void removed.push(keep),
    open: (request, model) => real.open({ ...request, file: { ...request.file, path: nameOf(request.file.path) } }, model),
    close: real.close.bind(real),
  });
  const model = await loadModel(descriptor, { providers: [], source: { url: 'https://models.example/' } });
  const name = `${file.sha256}-${file.path}`;
  await removeDownloads(currentBackend(), []);
  model.dispose();
  await removeDownloads(currentBackend(), []);
  assert.deepEqual(removed, [[name, `${name}.part`], []]);
});

test('CoreML compiles at every load where no folder can be made', async () => {
  const about = () => ({ runtimeVersion: runtimeVersion(), bundle: '/app', cache: '/caches', threads: 2 });
  const makeFolder = () => Promise.reject(new Error('[no-space] no room'));
  const { requests } = await onPhone({
    platform: 'ios',
    about,
    makeFolder,
    locate: async (path) => ({ path, offset: 0 }),
  });
  await loaded(descriptor);
  assert.ok(!requests[0].providerKeys.includes('ModelCacheDirectory'));
});

test('CoreML does not run 16-bit floats where ONNX Runtime computes them wrong', async () => {
  const files = descriptor.platforms.ios.files.map((file) => ({ ...file, isFloat16: true }));
  const model = withPlatform('ios', { files, runtimeVersion: '1.30.1' });
  const about = () => ({ runtimeVersion: '1.30.1', bundle: '/app', cache: '', threads: 2 });
  const folders = [];
  const makeFolder = async (folder) => void folders.push(folder);
  const { requests } = await onPhone({
    platform: 'ios',
    about,
    makeFolder,
    locate: async (path) => ({ path, offset: 0 }),
  });
  const { fallbacks } = await loaded(model, { providerOptions: { coreml: { RequireStaticInputShapes: '1' } } });
  const reason = 'ONNX Runtime 1.30.1 computes wrong 16-bit floats with RequireStaticInputShapes';
  assert.deepEqual(fallbacks, [{ provider: 'coreml', reason }]);
  await loaded(model);
  assert.deepEqual(
    requests.map(({ provider }) => provider),
    ['', 'CoreML', ''],
  );
  assert.ok(!folders.length, 'there is no folder for caches');
});

test('files for the chip of the device come first, those for other chips never', async () => {
  const [any] = descriptor.platforms.android.files.slice(-1);
  const file = (path, chips) => ({ ...any, path, chips, providers: ['cpu'] });
  const files = [file('other', ['SM8550']), file(any.path, []), file('mine', ['SM8650', 'SM8750'])];
  const model = withPlatform('android', { files });
  const offsets = { other: 5, [any.path]: 0, mine: 7 };
  const locate = async (path) => ({ path: any.path, offset: offsets[path] });
  const open = (tried, real) => (request, bytes) => {
    tried.push(request.file.offset);
    if (request.file.offset > 0) throw new Error('[runtime] made for tests');
    return real.open(request, bytes);
  };
  for (const [chip, expected] of [
    ['SM8750', [7, 0]],
    ['', [0]],
    ['unknown', [0]],
  ]) {
    const tried = [];
    await onPhone({ device: { chip, apiLevel: 34 }, locate, open: open(tried, await backend()) });
    await loaded(model, { providers: [] });
    assert.deepEqual(tried, expected, chip);
  }
});

test('a later ONNX Runtime of the same kind is taken, unless the package allows one alone', async () => {
  const [major, minor] = runtimeVersion().split('.').map(Number);
  const versions = { [`${major}.${minor}.9`]: true, [`${major}.${minor + 1}.0`]: true };
  Object.assign(versions, { [`${major}.${minor - 1}.9`]: false, [`${major + 1}.0.0`]: false, '': false });
  for (const [version, isTaken] of Object.entries(versions)) {
    await onPhone({ about: () => ({ runtimeVersion: version, bundle: '', cache: '', threads: 1 }) });
    if (isTaken) assert.equal((await loaded(descriptor)).info.onnxRuntimeVersion, version);
    else await assert.rejects(loadModel(descriptor), { code: 'runtime-version' });
    await assert.rejects(loadModel(withPlatform('android', { oldestRuntime: '' })), { code: 'runtime-version' });
  }
});

test('another ONNX Runtime is refused, unless the app allows it', async () => {
  const about = () => ({ runtimeVersion: '9.9.9', bundle: '', cache: '', threads: 1 });
  const { requests } = await onPhone({ about });
  await assert.rejects(loadModel(descriptor), (error) => {
    assert.equal(error.code, 'runtime-version');
    assert.ok(error.message.startsWith(`EveryType needs ONNX Runtime ${runtimeVersion()} or later, the app has 9.9.9:`));
    return true;
  });
  assert.deepEqual(requests, []);
  const model = await loaded(descriptor, { allowOtherRuntime: true });
  assert.equal(model.info.onnxRuntimeVersion, '9.9.9');
  await loaded(withPlatform('android', { runtimeVersion: '' }));
});

test('whatever is wrong with a file is thrown at once, not taken for a provider that does not start', async () => {
  for (const code of ['missing', 'corrupted', 'unreadable', 'no-space']) {
    const tried = [];
    const open = (request) => {
      tried.push(request.provider);
      return Promise.reject(new Error(`Exception in HostFunction: [${code}] words [here]`));
    };
    await onPhone({ open });
    await assert.rejects(loadModel(descriptor), refusal(code, 'words [here]'));
    assert.deepEqual(tried, ['XNNPACK']);
  }
});

test('a model that nothing starts says why', async () => {
  await onPhone({ open: () => Promise.reject(new Error('[runtime] no kernel')) });
  await assert.rejects(loadModel(descriptor), refusal('runtime', 'EveryType did not start: no kernel'));
});

test('loading ends when its signal is aborted, and leaves no session behind', async () => {
  const controller = new AbortController();
  const real = await backend();
  const open = async (request, model) => {
    const opened = await real.open({ ...request, provider: '', providerKeys: [], providerValues: [] }, model);
    controller.abort();
    return opened;
  };
  const { closed } = await onPhone({ open });
  const cancelled = refusal('cancelled', 'the call was cancelled');
  await assert.rejects(loadModel(descriptor, { signal: controller.signal }), cancelled);
  assert.equal(closed.length, 1);
  await assert.rejects(loadModel(descriptor, { signal: AbortSignal.abort() }), cancelled);
});

for (const [options, message] of [
  [{ threads: 257 }, 'threads is 257, which is not one of 0 to 256'],
  [{ threads: -1 }, 'threads is -1, which is not one of 0 to 256'],
  [{ threads: 1.5 }, 'threads is 1.5, which is not one of 0 to 256'],
  [{ threads: '2' }, "threads is '2', which is not one of 0 to 256"],
  [null, 'options are null, not an object'],
  [{ verify: 'never' }, `verify is 'never', which is not one of once, always`],
  [{ verify: null }, 'verify is null, which is not one of once, always'],
  [{ observer: 'loud' }, "observer is 'loud', which is not an object"],
  [{ proof: {} }, 'proof is [object Object], which `new Proof()` has not made'],
  [{ provider: 'cpu' }, `unknown option 'provider': there are ${OPTIONS}`],
  [{ toString: 'cpu' }, `unknown option 'toString': there are ${OPTIONS}`],
  [{ providers: 'cpu' }, "providers is 'cpu', which is not an array"],
  [{ providers: [null] }, 'unknown provider null: there are qnn, nnapi, xnnpack, webgpu, webnn, coreml, cpu'],
  [{ providerOptions: 'cpu' }, "providerOptions is 'cpu', which is not an object"],
  [{ providers: ['CoreML'] }, "unknown provider 'CoreML': there are qnn, nnapi, xnnpack, webgpu, webnn, coreml, cpu"],
]) {
  test(`refused: ${message}`, async () => {
    await onPhone();
    await assert.rejects(loadModel(descriptor, options), refusal('bad-options', message));
  });
}

test("an app's own file must have the model's tensors", async () => {
  const buffer = await bytesOf(descriptor.platforms.android.files.at(-1).path);
  const { f32, ...inputs } = descriptor.inputs;
  const { f32T, ...outputs } = descriptor.outputs;
  for (const [changes, message] of [
    [{ inputs }, 'the file has inputs that the model has not: `f32`'],
    [
      { inputs: { ...inputs, f32, more: { ...f32, name: 'more' } } },
      'input `more` is float32 [2, 3]: the file has none of that name',
    ],
    [
      { inputs: { ...inputs, f32: { ...f32, type: 'int32' } } },
      'input `f32` is int32 [2, 3]: in the file it is float32',
    ],
    [
      { inputs: { ...inputs, f32: { ...f32, shape: [2, 4] } } },
      'input `f32` is float32 [2, 4]: in the file it is [2, 3]',
    ],
    [{ outputs }, 'the file has outputs that the model has not: `f32_t`'],
    [
      { outputs: { ...outputs, f32T: { ...f32T, shape: [6] } } },
      'output `f32_t` is float32 [6]: in the file it is [3, 2]',
    ],
  ]) {
    const { closed } = await onPhone();
    const own = { source: { buffer }, providers: [] };
    await assert.rejects(loadModel({ ...descriptor, ...changes }, own), refusal('bad-model', message));
    assert.equal(closed.length, 1);
  }
  await onPhone();
  const model = await loaded(descriptor, { source: { buffer }, providers: [] });
  assert.equal(model.info.sha256, '');
  const test = await model.selfTest();
  assert.ok(!test.passed && !test.failed);
  assert.match(test.toString(), /^Self-test of .*: nothing to test$/);
});

test('an app without the native part is told to build it in', () => {
  const parts = { packageName: '@example/vision', os: 'ios', engine: null, android: null, assetFolder: 'mobpack/X' };
  assert.throws(
    () => makeNativeBackend(parts),
    (error) => error.code === 'not-linked' && error.message.startsWith('the native part of @example/vision is not in'),
  );
  const engine = { about: () => ({ runtimeVersion: '1', bundle: '/b.bundle', cache: '', threads: 1 }) };
  assert.throws(
    () => makeNativeBackend({ ...parts, os: 'android', engine }),
    (error) => error.code === 'not-linked',
  );
  assert.throws(
    () => makeNativeBackend({ ...parts, os: 'windows', engine }),
    refusal('unsupported', '@example/vision has models for Android and iOS, this is windows'),
  );
});

test('files lie in the bundle on iOS, and among the assets on Android', async () => {
  const engine = { about: () => ({ runtimeVersion: '1', bundle: '/b.bundle', cache: '', threads: 1 }) };
  const asked = [];
  const android = {
    device: () => ({ chip: 'SM8650', apiLevel: 34, folder: '/files' }),
    locate: async (...place) => (asked.push(place), { path: '/base.apk', offset: 64 }),
  };
  const parts = { packageName: 'p', engine, android, assetFolder: 'mobpack/Vision' };
  const ios = makeNativeBackend({ ...parts, os: 'ios', android: null });
  assert.deepEqual(await ios.locate('a.ort', 5), { path: '/b.bundle/a.ort', offset: 0 });
  const phone = makeNativeBackend({ ...parts, os: 'android' });
  assert.deepEqual(await phone.locate('a.ort', 5), { path: '/base.apk', offset: 64 });
  assert.deepEqual(asked, [['mobpack/Vision/a.ort', 5]]);
  assert.equal(phone.about().cache, '/files');
  assert.deepEqual(phone.device, { chip: 'SM8650', apiLevel: 34 });
});

test('a provider that ONNX Runtime lacks is refused before its file is opened', async () => {
  const about = () => ({ runtimeVersion: '1', bundle: '/b.bundle', cache: '', threads: 1 });
  const engine = { about, hasProvider: (name) => name === 'CoreML' };
  const { probe } = makeNativeBackend({ packageName: 'p', os: 'ios', engine, android: null, assetFolder: '' });
  await probe('CoreML');
  const { requests } = await onPhone({ probe });
  const { fallbacks } = await loaded(descriptor);
  assert.deepEqual(requests.map(({ provider }) => provider), ['']);
  const reason = 'the ONNX Runtime in this app was built without XNNPACK';
  assert.deepEqual(fallbacks, [{ provider: 'xnnpack', reason }]);
});
