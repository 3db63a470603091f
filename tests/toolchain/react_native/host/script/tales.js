// Makes texts, and vectors of several: `host tales.js PLAN`, a JSON file with prompts, seeds and texts as UTF-16.

import './globals.js';
import { Embedder, Sampler, ScribeModel, Teller } from '@example/models';

async function whole(text) {
  let made = '';
  for await (const part of text) made += part;
  return made;
}

async function embeddings(texts) {
  const model = await Embedder.load();
  const together = await model.embed(texts);
  const atOnce = model.embedSync(texts);
  const alone = [];
  for (const text of texts) alone.push(await model.embed(text));
  model.dispose();
  const [first, second, third] = [together, atOnce, alone].map((each) => each.map((vector) => Array.from(vector)));
  return { together: first, 'at once': second, alone: third };
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
  const chatted = await whole(sampler.chat(plan.said, { seed: 7 }));
  const refused = plan.spoilt.map((each) => {
    try {
      return sampler.chat(each);
    } catch (error) {
      return `${error.code}: ${error.message}`;
    }
  });
  sampler.dispose();
  const scribe = await ScribeModel.load();
  const samples = Float32Array.from({ length: 160 }, (_, n) => (((n * 7919) % 60000) - 30000) / 32768);
  const heard = await whole(scribe.generate({ samples, rate: 16000 }));
  scribe.dispose();
  const embedded = await embeddings(plan.listed.map((units) => String.fromCharCode(...units)));
  return { told, value, again, sampled, chatted, refused, heard, embedded };
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
