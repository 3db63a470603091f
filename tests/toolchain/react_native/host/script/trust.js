// Loads a model with lists of the package's files that are right or wrong: `host trust.js PLAN`, where the plan has them.

import './globals.js';
import { ModelError, ModelUntrustedError, Scorer } from 'react-native-models';
import { TurboModuleRegistry } from './react-native.js';

const { plan } = globalThis;
const engine = TurboModuleRegistry.get('ModelsCxx');
const bytesOf = (text) => Uint8Array.from(text, (character) => character.charCodeAt(0)).buffer;
const list = 'mobpack/Models/models.sig';

/** Puts a list where the app has it, behind `before` and before `after`. */
async function place(text, before = '', after = '') {
  const path = plan.os === 'android' ? `${plan.scratch}/models.sig` : `${engine.about().bundle}/models.sig`;
  await engine.removeFile(path);
  if (plan.os === 'android') delete plan.places[list];
  if (text === null) return;
  await engine.writePart(path, 0, bytesOf(before + text + after));
  if (plan.os === 'android') plan.places[list] = { path, offset: before.length };
}

async function found(options) {
  try {
    const model = await Scorer.load(options);
    const { provider } = model;
    model.dispose();
    return { found: `opened by ${provider}` };
  } catch (error) {
    const isKnown = error instanceof ModelUntrustedError && error instanceof ModelError;
    return { found: isKnown ? error.problem : (error.code ?? String(error)), words: error.message };
  }
}

async function run() {
  const results = {};
  for (const { name, text } of plan.lists) {
    await place(text);
    results[name] = await found();
  }
  const [{ text }] = plan.lists;
  if (plan.os === 'android') {
    await place(text, 'PK\u0003\u0004', 'PK\u0001\u0002');
    results['stored in an archive'] = await found();
  }
  await place(text);
  let least = Infinity;
  for (let time = 0; time < 50; time += 1) {
    const began = Date.now();
    for (let each = 0; each < 10; each += 1) await found({ source: { buffer: new ArrayBuffer(4), sha256: '0'.repeat(64) } });
    least = Math.min(least, (Date.now() - began) / 10);
  }
  results.milliseconds = { found: least };
  results['own stranger'] = await found({ source: { buffer: new ArrayBuffer(4), sha256: '0'.repeat(64) } });
  results['own without sha256'] = await found({ source: { buffer: new ArrayBuffer(4) } });
  return results;
}

run().then(
  (results) => {
    console.log(`RESULT ${JSON.stringify(results)}`);
    host.exit(0);
  },
  (error) => {
    console.log(String(error), error.stack);
    host.exit(1);
  },
);
