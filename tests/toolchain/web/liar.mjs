// Loads a model with the option `proof` where WebGPU lies: `liar.mjs PACKAGE ROWS`. Between the package and ONNX Runtime
// stands a layer that opens its sessions on the CPU, and lies as the option `behaviour` says.

import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [, , folder, rows] = process.argv;
const load = (name) => import(pathToFileURL(path.join(folder, name)).href);
const later = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Milliseconds that a run takes beside its own: a machine that is busy changes nothing. */
const CPU_MS = 50;
const SLOW_MS = 10 * CPU_MS;

const lies = {
  'ten times slower': () => later(SLOW_MS),
  hang: () => new Promise(() => undefined),
  'crash in the third run': (runs) => runs < 3 || process.exit(9),
};

let opened = 0;
const [script] = (await readdir(path.join(folder, 'onnxruntime'))).filter((name) => name.endsWith('.mjs'));
const { InferenceSession } = await load(`onnxruntime/${script}`);
const create = InferenceSession.create.bind(InferenceSession);
InferenceSession.create = async (model, options) => {
  const [{ name, behaviour }] = options.executionProviders;
  const session = await create(model, { ...options, executionProviders: ['cpu'] });
  const run = session.run.bind(session);
  if (name === 'cpu') {
    session.run = async (feeds) => (await later(CPU_MS), run(feeds));
    return session;
  }
  opened += 1;
  if (behaviour === 'refuse at load') throw new Error('the liar does not want to start');
  let runs = 0;
  session.run = async (feeds) => {
    runs += 1;
    await lies[behaviour]?.(runs);
    const found = await run(feeds);
    if (behaviour === 'wrong by 1 %') for (const { data } of Object.values(found)) data.forEach((value, index) => (data[index] = value * 1.01));
    return found;
  };
  return session;
};

const { Liar, Proof } = await load('lib/index.js');
const found = {};
for (const [behaviour, options] of Object.entries(JSON.parse(rows))) {
  const requestAdapter = async () => (behaviour === 'no device' ? null : { info: { vendor: 'liar' } });
  Object.defineProperty(navigator, 'gpu', { value: { requestAdapter }, configurable: true });
  opened = 0;
  const told = [];
  const model = await Liar.load({
    proof: new Proof(options),
    providerOptions: { webgpu: { behaviour } },
    observer: { onLoad: ({ fallbacks }) => told.push(...fallbacks) },
  });
  const { provider, fallbacks, info } = model;
  const { passed } = await model.selfTest();
  model.dispose();
  found[behaviour] = { provider, fallbacks, told, proofs: info.proofs, passed, opened };
}
console.log(JSON.stringify(found));
process.exit(0);
