// Asks each model what the table of docs/contract.md asks: `app contract_table.js PLAN`.

import '@host/globals.js';
import { Classifier, Finder, Listener, Scribe } from '@example/models';

const CLASSES = 1000;
const answers = {};

function answer(name, words, numbers) {
  answers[name] = { words, numbers };
}

function picture(line) {
  const [width, height, rowBytes, orientation, left, top, right, bottom, number] = line.slice(3).map(Number);
  const data = host.read(`${plan.cases}/${line[0]}`);
  const region = { left, top, right, bottom };
  const conversion = ['bt601-full', 'bt601-video', 'bt709-full', 'bt709-video'][number];
  return { data, width, height, format: line[2].toLowerCase(), rowBytes, orientation, region, conversion };
}

async function ask(line, models) {
  const [name, model] = line;
  if (model === 'classifier') {
    const found = await models.classifier.classify(picture(line), { top: CLASSES });
    const scores = [...found].sort((one, other) => one.index - other.index).map((each) => each.score);
    answer(name, found.slice(0, 3).map((each) => each.label).join('|'), scores);
  } else if (model === 'finder') {
    const found = await models.finder.detect(picture(line));
    const numbers = found.flatMap(({ box, score }) => [box.left, box.top, box.right, box.bottom, score]);
    answer(name, `${found.length}`, numbers);
  } else {
    const reading = await models.scribe.read(picture(line));
    answer(name, reading.text, [reading.score]);
  }
}

async function hear() {
  const model = await Listener.load({ threads: 1 });
  const voice = new Float32Array(host.read(`${plan.cases}/voice`));
  const scores = [];
  for (let start = 0; start < voice.length; start += plan.window) {
    const [found] = await model.classify({ samples: voice.subarray(start, start + plan.window), rate: plan.rate });
    scores.push(found.score);
  }
  answer('voice', '', scores);
}

async function main() {
  const text = String.fromCharCode(...new Uint8Array(host.read(`${plan.cases}/cases`)));
  const lines = text.trim().split('\n').map((line) => line.split(' '));
  const options = { threads: 1 };
  const models = {
    classifier: await Classifier.load(options),
    finder: await Finder.load(options),
    scribe: await Scribe.load(options),
  };
  for (const line of lines) await ask(line, models);
  await hear();
  console.log(`RESULT ${JSON.stringify(answers)}`);
}

main()
  .then(() => host.exit(0))
  .catch((error) => {
    console.log(`FAILED ${error.name}: ${error.message}\n${error.stack}`);
    host.exit(1);
  });
