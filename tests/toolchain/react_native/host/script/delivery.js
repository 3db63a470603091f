// Updates a model as it is told: `host delivery.js PLAN`, where the plan names a folder for messages. Commands come as files
// NUMBER.command there; each answer is a line of JSON.

import './globals.js';
import { dying } from './dying.js';
import './network.js';
import { ModelUpdater, Scorer } from 'react-native-models';
import { TurboModuleRegistry } from './react-native.js';

const engine = TurboModuleRegistry.plain('ModelsCxx');
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

async function follow(line) {
  const [name, ...words] = line.trim().split(/ +/);
  try {
    return (await commands[name](...words)) ?? {};
  } catch (error) {
    return { error: error.code ?? error.name, message: error.message };
  }
}

async function listen(number) {
  const path = `${plan.mail}/${number}.command`;
  if (engine.fileSize(path) < 0) {
    setTimeout(() => void listen(number), 2);
    return;
  }
  const line = host.readText(path);
  if (line === 'quit') {
    host.exit(0);
    return;
  }
  console.log(`ANSWER ${JSON.stringify(await follow(line))}`);
  void listen(number + 1);
}

void listen(1);
