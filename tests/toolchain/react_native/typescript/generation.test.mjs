// Texts that models make are those of Python, whether they are made at once, left, or made again.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { bytesOf, load, ort } from './package.mjs';

const { ModelError, Sampler, ScribeModel, Teller } = await load('index.web.js');
const { setOnnxRuntime } = await load('runtime/onnxruntime.js');
setOnnxRuntime(ort, { read: bytesOf });

/** The texts of Python, by name. */
const wanted = JSON.parse(readFileSync(process.env.TEXTS, 'utf-8'));
const PROMPT = 'the quick';

async function withModel(definition, work) {
  const model = await definition.load();
  try {
    await work(model);
  } finally {
    model.dispose();
  }
}

async function partsOf(text) {
  const parts = [];
  for await (const part of text) parts.push(part);
  return parts;
}

async function whole(text) {
  return (await partsOf(text)).join('');
}

test('the whole text is that of Python, and a character of four bytes is one part', async () => {
  await withModel(Teller, async (model) => {
    const parts = await partsOf(model.generate(PROMPT));
    assert.equal(parts.join(''), wanted.text);
    assert.ok(parts.includes('\u{1F98A}'));
    assert.ok(!parts.includes(''));
    assert.equal(await whole(model.generate('')), wanted.nothing);
  });
});

test('a model goes on after a text that was left', async () => {
  await withModel(Teller, async (model) => {
    for await (const part of model.generate(PROMPT)) {
      assert.ok(wanted.text.startsWith(part));
      break;
    }
    assert.equal(await whole(model.generate(PROMPT)), wanted.text);
  });
});

test('a text that is left while a run is under way ends, and so does one whose signal says so', async () => {
  await withModel(Teller, async (model) => {
    const text = model.generate(PROMPT);
    const pending = text.next();
    assert.deepEqual(await text.return(), { done: true, value: undefined });
    assert.deepEqual(await pending, { done: true, value: undefined });
    assert.deepEqual(await text.next(), { done: true, value: undefined });

    const controller = new AbortController();
    const other = model.generate(PROMPT, { signal: controller.signal });
    assert.equal((await other.next()).done, false);
    controller.abort();
    await assert.rejects(other.next(), (error) => error instanceof ModelError && error.code === 'cancelled');
    assert.deepEqual(await other.next(), { done: true, value: undefined });
    assert.equal(await whole(model.generate(PROMPT)), wanted.text);
  });
});

test('texts that are made at once are those made alone', async () => {
  await withModel(Teller, async (model) => {
    const made = await Promise.all([PROMPT, 'a dog', PROMPT].map((prompt) => whole(model.generate(prompt))));
    assert.deepEqual(made, [wanted.text, wanted.dog, wanted.text]);
  });
});

test('a seed chooses what it chooses in Python', async () => {
  await withModel(Sampler, async (model) => {
    for (const seed of [0, 7, 2 ** 40, -5, 7n]) {
      assert.equal(await whole(model.generate('a dog', { seed })), wanted[`seed ${seed}`]);
    }
    assert.equal(await whole(model.generate('a dog')), wanted['seed 0']);
    await assert.rejects(model.generate('a dog', { seed: 0.5 }).next(), /seed is 0\.5, which is no whole number/);
  });
});

test('the text of a recording is that of Python, and only the first run gets all of the recording', async () => {
  const samples = Float32Array.from({ length: 160 }, (_, index) => (((index * 7919) % 60000) - 30000) / 32768);
  await withModel(ScribeModel, async (model) => {
    const frames = [];
    const run = model.run.bind(model);
    model.run = (inputs, options) => {
      frames.push(inputs.inputValuesSamples.shape[0]);
      return run(inputs, options);
    };
    assert.equal(await whole(model.generate({ samples, rate: 16000 })), wanted.heard);
    assert.equal(frames[0], 160);
    assert.ok(frames.length > 2 && frames.slice(1).every((count) => count === 1));
  });
});

test('what is no text is refused', async () => {
  await withModel(Teller, async (model) => {
    await assert.rejects(model.generate(7).next(), (error) => error.code === 'bad-input');
  });
});
