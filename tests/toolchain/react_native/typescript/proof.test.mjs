import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { backend, load } from './package.mjs';

const { EveryType, Proof } = await load('index.web.js');
const { chooseBackend } = await load('runtime/backend.js');
const { loadModel } = await load('runtime/loading.js');

const PATH = '/app/proofs/every_type.json';
const CPU_SECONDS = 0.25;
const ENDED = 'ended the process when it was tried';
const [file, ...others] = EveryType.descriptor.platforms.android.files;
/** The build saw XNNPACK take two nodes. */
const phoneFiles = { ...EveryType.descriptor.platforms.android, files: [{ ...file, nodes: { xnnpack: 2 } }, ...others] };
const descriptor = { ...EveryType.descriptor, platforms: { android: phoneFiles } };
const later = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const forever = () => new Promise(() => undefined);

/** What ONNX Runtime records; the empty name is for nodes that it laid out anew. */
const assignmentOf = (nodes) =>
  [['XnnpackExecutionProvider', nodes], ['CPUExecutionProvider', 9], ['', 0]].map(([provider, count]) => ({ provider, nodes: count, macs: count, macNodes: count }));

/** Waits until something is so; the test's own limit ends it. */
async function until(isSo) {
  while (!isSo()) await later(5);
}

/**
 * A phone whose XNNPACK is the CPU of the real ONNX Runtime, and said to be twice as fast. Its files outlive it: `files` may be those of
 * another one, which has ended.
 */
async function phone({ files = new Map(), system = 'Android 15', ...changes } = {}) {
  const real = await backend();
  const state = { files, opened: [], closed: [], runs: 0, nodes: 2, starting: async () => undefined, running: async () => undefined, watchers: new Set() };
  const providers = new Map();
  const record = () => JSON.parse(files.get(PATH) ?? '{"proofs":[]}').proofs;
  const made = await backend({
    platform: 'android',
    device: { chip: '', apiLevel: 34 },
    system: () => system,
    about: () => ({ runtimeVersion: descriptor.platforms.android.runtimeVersion, bundle: '', cache: '/app', threads: 4 }),
    open: async (request, model) => {
      const provider = request.provider === '' ? 'cpu' : 'xnnpack';
      state.opened.push(provider);
      if (provider !== 'cpu') await state.starting();
      const opened = await real.open({ ...request, provider: '', notes: '' }, model);
      providers.set(opened.session, provider);
      return request.provider === 'NNAPI' ? opened : { ...opened, assignment: assignmentOf(provider === 'cpu' ? 0 : state.nodes) };
    },
    close: (session) => {
      state.closed.push(providers.get(session));
      real.close(session);
    },
    run: async (session, ...given) => {
      const isCpu = providers.get(session) === 'cpu';
      if (!isCpu) state.runs += 1;
      if (!isCpu) await state.running();
      return { ...(await real.run(session, ...given)), duration: isCpu ? CPU_SECONDS : CPU_SECONDS / 2 };
    },
    ...Object.fromEntries(['take', 'drop', 'cancel'].map((name) => [name, real[name].bind(real)])),
    fileSize: (path) => files.get(path)?.length ?? -1,
    readFile: async (path, offset, into, sha256) => {
      if (!files.has(path)) return real.readFile(path, offset, into, sha256);
      new Uint8Array(into).set(Uint8Array.from(files.get(path), (each) => each.charCodeAt(0)));
    },
    writePart: async (path, _offset, bytes) => void files.set(path, String.fromCharCode(...new Uint8Array(bytes))),
    finishPart: async (part, path) => {
      files.set(path, files.get(part));
      files.delete(part);
    },
    presence: { isAway: () => false, onChange: (listener) => (state.watchers.add(listener), () => state.watchers.delete(listener)) },
    ...changes,
  });
  chooseBackend(() => made);
  return Object.assign(state, { record, states: () => record().map((each) => each.state) });
}

/** What a load ends with. Its model is disposed of. */
async function decided(options, given = {}) {
  const model = await loadModel(descriptor, { providers: ['xnnpack'], proof: new Proof({ limit: 60, ...options }), ...given });
  model.dispose();
  return { provider: model.provider, reasons: model.fallbacks.map(({ reason }) => reason), proofs: model.info.proofs };
}

test('a provider that is proved runs the model, and is not tried again until the system changes', async () => {
  const first = await phone();
  const { provider, reasons, proofs } = await decided();
  assert.deepEqual([provider, reasons], ['xnnpack', []]);
  const [seconds, cpuSeconds] = [CPU_SECONDS / 2, CPU_SECONDS];
  assert.deepEqual(proofs, [{ provider: 'xnnpack', isProved: true, reason: '', seconds, cpuSeconds }]);
  const { files } = first;
  assert.deepEqual([...files.keys()], [PATH]);
  assert.deepEqual(first.opened, ['cpu', 'xnnpack']);
  assert.deepEqual([...first.closed].sort(), ['cpu', 'xnnpack'], 'what was opened is closed, once');
  const [{ device, ...entry }] = first.record();
  assert.deepEqual(entry, { provider: 'xnnpack', file: file.sha256, state: 'proved', reason: '', seconds, cpu_seconds: cpuSeconds });
  assert.match(device, /^[0-9a-f]{16}$/);

  const second = await phone({ files });
  assert.deepEqual(await decided(), { provider, reasons, proofs });
  assert.deepEqual([second.opened, second.runs], [['xnnpack'], 0]);
  const third = await phone({ files, system: 'Android 16' });
  assert.equal((await decided()).provider, 'xnnpack');
  assert.deepEqual(third.opened, ['cpu', 'xnnpack']);
  assert.equal((await decided({}, { threads: 2 })).provider, 'xnnpack');
  assert.equal(third.record().length, 3, 'a verdict for each system and each number of threads');
});

test('a provider that takes fewer nodes than the build saw it take is left out', async () => {
  const state = await phone();
  state.nodes = 1;
  const reason = 'took 1 nodes; the build saw it take 2';
  assert.deepEqual(await decided(), { provider: 'cpu', reasons: [reason], proofs: [{ provider: 'xnnpack', isProved: false, reason }] });
  assert.deepEqual([state.runs, state.states()], [0, ['refused']]);
});

test('a note of a trial in another process means that it ended there', async () => {
  const state = await phone();
  state.running = forever;
  const { files } = state;
  const controller = new AbortController();
  const loading = decided({}, { signal: controller.signal });
  await until(() => state.runs === 1);
  assert.deepEqual(state.states(), ['trying']);
  const note = files.get(PATH);

  for (const { system, left, provider } of [
    { system: 'Android 15', left: [ENDED], provider: 'cpu' },
    { system: 'Android 16', left: [], provider: 'xnnpack' },
  ]) {
    const next = await phone({ files: new Map([[PATH, note]]), system });
    // A module of its own, as in another process: here the first proof is under way.
    const { Proof: OtherProof } = await import(`${pathToFileURL(`${process.env.PACKAGE}/lib/runtime/proving/proof.js`)}?${system.replace(' ', '')}`);
    const found = await decided({}, { proof: new OtherProof({ limit: 60 }) });
    assert.deepEqual([found.provider, found.reasons], [provider, left]);
    if (provider === 'cpu') assert.deepEqual([next.opened, next.states()], [['cpu'], ['refused']]);
  }
  controller.abort();
  await assert.rejects(loading, { code: 'cancelled' });
});

test('who leaves the app, or cancels the load, leaves no note and no verdict', async () => {
  const state = await phone();
  state.running = forever;
  const controller = new AbortController();
  const loading = decided({}, { signal: controller.signal });
  const tell = (isAway) => state.watchers.forEach((watcher) => watcher(isAway));
  await until(() => state.states()[0] === 'trying' && state.runs === 1);
  tell(true);
  await until(() => state.record().length === 0);
  tell(false);
  await until(() => state.states()[0] === 'trying');
  controller.abort();
  await assert.rejects(loading, { code: 'cancelled' });
  assert.deepEqual([state.record(), state.watchers.size], [[], 0]);
  state.running = async () => undefined;
  assert.equal((await decided()).provider, 'xnnpack');
});

test('loads at once have one proof, for which the others wait', async () => {
  const state = await phone();
  const found = await Promise.all([decided(), decided(), decided()]);
  assert.deepEqual(found.map(({ provider }) => provider), ['xnnpack', 'xnnpack', 'xnnpack']);
  assert.equal(state.opened.filter((each) => each === 'cpu').length, 1);
});

test('a proof in the background holds from the next load', async () => {
  const state = await phone();
  const { provider, reasons, proofs } = await decided({ inBackground: true });
  const reason = 'was not examined: the proof goes on in the background';
  assert.deepEqual([provider, reasons, proofs], ['cpu', [reason], [{ provider: 'xnnpack', isProved: false, reason }]]);
  await until(() => state.states()[0] === 'proved');
  assert.equal((await decided({ inBackground: true })).provider, 'xnnpack');
  await until(() => state.closed.length === state.opened.length);
  assert.deepEqual(state.opened, ['cpu', 'cpu', 'xnnpack', 'xnnpack'], 'no further proof');
});

test('a provider that does not answer is left out, and those for which no time is left are tried by the next load', async () => {
  const state = await phone();
  state.running = forever;
  const [xnnpack] = descriptor.platforms.android.providers;
  const other = { ...xnnpack, provider: 'nnapi', registeredName: 'NNAPI', executionProvider: 'NnapiExecutionProvider' };
  const files = descriptor.platforms.android.files.map((each) => ({ ...each, providers: [...each.providers, 'nnapi'] }));
  const android = { ...descriptor.platforms.android, providers: [xnnpack, other], files };
  const load = async () => {
    const model = await loadModel({ ...descriptor, platforms: { android } }, { proof: new Proof({ limit: 0.2 }) });
    model.dispose();
    return [model.provider, ...model.info.proofs.map(({ reason }) => reason)];
  };
  const hung = 'did not answer within 0.2 s';
  assert.deepEqual(await load(), ['cpu', hung, 'was not examined: the 0.2 s of the proof were over']);
  assert.deepEqual(state.states(), ['refused']);
  assert.deepEqual(await load(), ['cpu', hung, hung]);
});

test('a provider that starts too late is left out, and its session is closed', async () => {
  const state = await phone();
  let start = () => undefined;
  state.starting = () => new Promise((resolve) => (start = resolve));
  assert.deepEqual((await decided({ limit: 0.2 })).reasons, ['did not answer within 0.2 s']);
  assert.deepEqual([state.opened, state.closed], [['cpu', 'xnnpack'], ['cpu']]);
  start();
  await until(() => state.closed.includes('xnnpack'));
});

test('a record that cannot be read or written is none', async () => {
  const unreadable = new Map([[PATH, '{"format": 1, "proofs": [{"provider": 3}, null']]);
  const state = await phone({ files: unreadable });
  assert.equal((await decided()).provider, 'xnnpack');
  assert.deepEqual(state.states(), ['proved']);
  const full = await phone({ writePart: () => Promise.reject(new Error('[no-space] the disk is full')) });
  assert.equal((await decided()).provider, 'xnnpack');
  assert.deepEqual(full.record(), []);
});

test('without samples nothing is tried', async () => {
  const state = await phone();
  const model = await loadModel({ ...descriptor, golden: [] }, { providers: ['xnnpack'], proof: new Proof() });
  model.dispose();
  const reason = 'the package has no samples of the model to prove it with';
  assert.deepEqual([model.provider, model.fallbacks, state.opened], ['cpu', [{ provider: 'xnnpack', reason }], ['cpu']]);
});

for (const [options, message] of [
  [{ limit: 0 }, 'limit is 0, which is not a number of seconds'],
  [{ limit: '3' }, 'limit is 3, which is not a number of seconds'],
  [{ inBackground: 1 }, 'inBackground is 1, which is neither true nor false'],
]) {
  test(`refused: ${message}`, () => assert.throws(() => new Proof(options), { code: 'bad-options', message }));
}
