// Loads a model with the option `proof` where XNNPACK lies: `host proving.js PLAN`, a JSON file with ways to lie and options.

import './globals.js';
import { lies } from './lying.js';

import { Proof, SileroVad } from '@example/models';

import { text } from './checks.js';

async function proves() {
  const [file] = SileroVad.descriptor.platforms.ios.files;
  file.nodes = { xnnpack: 2 };
  const found = {};
  for (const [behaviour, options] of Object.entries(plan.rows)) {
    Object.assign(lies, { behaviour, opened: 0 });
    const told = [];
    const observer = { onLoad: ({ fallbacks }) => told.push(...fallbacks) };
    const providerOptions = { xnnpack: { behaviour } };
    const model = await SileroVad.load({ proof: new Proof(options), providers: ['xnnpack'], providerOptions, observer });
    const { provider, fallbacks, info } = model;
    const { passed } = await model.selfTest();
    model.dispose();
    found[behaviour] = { provider, fallbacks, told, proofs: info.proofs, passed, opened: lies.opened };
  }
  return found;
}

proves()
  .then((result) => {
    console.log(`RESULT ${text(result)}`);
    host.exit(0);
  })
  .catch((error) => {
    console.log(`FAILED ${error.name}: ${error.message}\n${error.stack}`);
    host.exit(1);
  });
