// Makes texts: `host tales.js PLAN`, where the plan is a JSON file with prompts and seeds.

import './globals.js';
import { Sampler, Scribe, Teller } from '@example/models';

async function whole(text) {
  let made = '';
  for await (const part of text) made += part;
  return made;
}

async function main() {
  const teller = await Teller.load();
  const told = await Promise.all(plan.prompts.map((prompt) => whole(teller.generate(prompt))));
  const left = teller.generate(plan.prompts[0]);
  const { value } = await left.next();
  await left.return();
  const again = await whole(teller.generate(plan.prompts[0]));
  teller.dispose();
  const sampler = await Sampler.load();
  const sampled = [];
  for (const seed of plan.seeds) sampled.push(await whole(sampler.generate('a dog', { seed })));
  sampler.dispose();
  const scribe = await Scribe.load();
  const samples = Float32Array.from({ length: 160 }, (_, n) => (((n * 7919) % 60000) - 30000) / 32768);
  const heard = await whole(scribe.generate({ samples, rate: 16000 }));
  scribe.dispose();
  return { told, value, again, sampled, heard };
}

main()
  .then((result) => {
    console.log(`RESULT ${JSON.stringify(result)}`);
    host.exit(0);
  })
  .catch((error) => {
    console.log(`FAILED ${error.name}: ${error.message}\n${error.stack}`);
    host.exit(1);
  });
