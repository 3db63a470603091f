// Updates a model as it is told: `host delivery.js PLAN`, where the plan names a folder for messages. Commands come as files
// NUMBER.command there; each answer is a line of JSON.

import './globals.js';
import { dying } from './dying.js';
import { listen } from './listening.js';
import './network.js';
import { AppState } from 'react-native';
import { ModelUpdater, Scorer } from 'react-native-models';

const known = { yes: true, no: false };
const device = {};
const options = { conditions: () => device };
const updater = new ModelUpdater(plan.address, options);
const seen = [];
let model = null;

updater.subscribe((states) => seen.push(states.scorer.phase));

async function run(options = {}) {
  const { y } = await model.run({ x: Float32Array.from({ length: 64 }, (_, index) => index / 64) }, options);
  return y.data.reduce((total, value) => total + value, 0);
}

/** Starts `count` runs of the open model at once, perhaps beside an update, and cancels `cancelled` of them. */
async function runs(count, cancelled, isUpdating) {
  const update = isUpdating ? updater.update({ force: true }) : Promise.resolve();
  const controllers = Array.from({ length: count }, () => new AbortController());
  let slowest = 0;
  const running = controllers.map(async ({ signal }) => {
    const began = Date.now();
    const sum = await run({ signal });
    slowest = Math.max(slowest, Date.now() - began);
    return sum;
  });
  for (const each of controllers.slice(0, cancelled)) each.abort();
  const ended = await Promise.allSettled(running);
  await Promise.allSettled([update]);
  seen.splice(0);
  const right = ended.filter(({ status }) => status === 'fulfilled').map(({ value }) => value);
  const failures = ended.filter(({ reason }) => reason !== undefined && reason.code !== 'cancelled');
  const errors = failures.map(({ reason }) => `${reason.code} ${reason.message}`).join('; ');
  return { sums: [...new Set(right)], answers: right.length, errors, slowest };
}

/** Says what Android or iOS says where nobody is asked. */
function say(key, word) {
  delete device[key];
  if (word in known) device[key] = known[word];
  return {};
}

const commands = {
  update: async (word) => ({ states: await updater.update({ force: word === 'force' }), seen: seen.splice(0) }),
  state: () => ({ states: updater.states }),
  load: async (word) => {
    model?.dispose();
    model = await Scorer.load({ source: updater.source, ...(word === 'always' ? { verify: 'always' } : {}) });
    const { version } = model.info;
    return { version, source: version === plan.version ? 'bundled' : 'updater', sum: await run() };
  },
  run: async () => ({ sum: await run() }),
  runs: (count, cancelled, word) => runs(Number(count), Number(cancelled), word === 'update'),
  close: () => {
    model?.dispose();
    model = null;
  },
  pressure: () => AppState.warn(),
  heat: (heat) => {
    plan.isHot = heat === 'hot';
  },
  freeze: () => updater.freeze(),
  unfreeze: () => updater.unfreeze(),
  pin: (name, version) => updater.pin(name, version),
  unpin: (name) => updater.unpin(name),
  remove: () => updater.remove(),
  'remove-elsewhere': () => new ModelUpdater(plan.address, options).remove(),
  metered: (word) => say('isUnmetered', { yes: 'no', no: 'yes' }[word]),
  charging: (word) => say('isCharging', word),
  limit: (bytes) => void (options.limitBytes = Number(bytes)),
  die: (writes) => void (dying.writes = Number(writes)),
  'die-opening': () => void (dying.isOpening = true),
  'die-left': () => void (dying.isOpening = dying.isLeaving = true),
  test: async () => ({ passed: (await model.selfTest()).passed }),
};

listen(commands);
