// Updates a model as it is told: `host delivery.js PLAN`, where the plan names a folder for messages. Commands come as files
// NUMBER.command there; each answer is a line of JSON.

import './globals.js';
import { dying } from './dying.js';
import { listen } from './listening.js';
import './network.js';
import { ModelUpdater, Scorer } from 'react-native-models';

const known = { yes: true, no: false };
const device = {};
const options = { conditions: () => device };
const updater = new ModelUpdater(plan.address, options);
const seen = [];
let model = null;

updater.subscribe((states) => seen.push(states.scorer.phase));

async function run() {
  const { y } = await model.run({ x: Float32Array.from({ length: 64 }, (_, index) => index / 64) });
  return y.data.reduce((total, value) => total + value, 0);
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
  freeze: () => updater.freeze(),
  unfreeze: () => updater.unfreeze(),
  pin: (name, version) => updater.pin(name, version),
  unpin: (name) => updater.unpin(name),
  remove: () => updater.remove(),
  metered: (word) => say('isUnmetered', { yes: 'no', no: 'yes' }[word]),
  charging: (word) => say('isCharging', word),
  limit: (bytes) => void (options.limitBytes = Number(bytes)),
  die: (writes) => void (dying.writes = Number(writes)),
  'die-opening': () => void (dying.isOpening = true),
  test: async () => ({ passed: (await model.selfTest()).passed }),
};

listen(commands);
