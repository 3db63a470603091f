import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readFileSync } from 'node:fs';
import { createContext, runInContext } from 'node:vm';
import { backend, bytesOf, load, ort } from './package.mjs';

const {
  Embedder,
  Everything,
  Finder,
  Judge,
  ListenerModel,
  ModelError,
  Noter,
  Player,
  Ranker,
  Recorder,
  RowsModel,
  Similarity,
  Speller,
  Tagger,
  Tokens,
  Topics,
  Watcher,
  allocate,
  toWav,
} = await load('index.web.js');
const { setOnnxRuntime } = await load('runtime/onnxruntime.js');
const { chooseBackend } = await load('runtime/backend.js');
const { AnyModel } = await load('runtime/model.js');
setOnnxRuntime(ort, { read: bytesOf });

/** Two rows of three pixels: red, green and blue of each. */
const COLOURS = [
  [10, 20, 30],
  [40, 50, 60],
  [70, 80, 90],
  [100, 110, 120],
  [130, 140, 150],
  [160, 170, 180],
];
const RGBA = new Uint8Array(COLOURS.flatMap((colour) => [...colour, 255]));
const WHOLE = { data: RGBA, width: 3, height: 2 };

async function withModel(definition, work) {
  const model = await definition.load();
  try {
    await work(model);
  } finally {
    model.dispose();
  }
}

/** What the model saw of a picture. */
async function seen(model, picture, options = {}) {
  const found = await model.classify(picture, { top: Infinity, ...options });
  return Object.fromEntries(found.map(({ label, score }) => [label, score]));
}

function refusal(code, message) {
  return (error) => {
    assert.ok(error instanceof ModelError, String(error));
    assert.equal(error.message, message);
    assert.equal(error.code, code);
    return true;
  };
}

/** A backend that tells what was run on what; `runSync` runs nothing, and gives what the last `run` gave. */
async function recording() {
  const real = await backend();
  const record = { runs: [], allocated: [], last: null };
  chooseBackend(
    () =>
      new Proxy(real, {
        get(target, key) {
          if (key === 'run') {
            return async (session, call, buffers, layout, texts) => {
              record.runs.push({ buffers, layout });
              record.last = await real.run(session, call, buffers, layout, texts);
              return record.last;
            };
          }
          if (key === 'runSync') {
            return (session, buffers, layout) => {
              record.runs.push({ buffers, layout });
              if (record.last === null) throw new Error('[runtime] no kernel');
              return record.last;
            };
          }
          if (key === 'allocate') {
            return (size) => {
              const buffer = real.allocate(size);
              record.allocated.push(buffer);
              return buffer;
            };
          }
          if (key === 'drop') return () => undefined;
          const value = target[key];
          return typeof value === 'function' ? value.bind(target) : value;
        },
      }),
  );
  return record;
}

test.afterEach(() => {
  setOnnxRuntime(ort, { read: bytesOf });
});

const FORMATS = {
  rgba: ([red, green, blue]) => [red, green, blue, 9],
  bgra: ([red, green, blue]) => [blue, green, red, 9],
  argb: ([red, green, blue]) => [9, red, green, blue],
  rgb: ([red, green, blue]) => [red, green, blue],
  bgr: ([red, green, blue]) => [blue, green, red],
};

for (const [format, bytes] of Object.entries(FORMATS)) {
  test(`colours are found in pixels of ${format}`, () =>
    withModel(Watcher, async (model) => {
      const data = new Uint8Array(COLOURS.flatMap(bytes));
      const { red, green, blue, height, width } = await seen(model, { ...WHOLE, data, format });
      assert.deepEqual({ red, green, blue, height, width }, { red: 85, green: 95, blue: 105, height: 2, width: 3 });
    }));
}

test('grey pixels have one byte, which is all three colours', () =>
  withModel(Watcher, async (model) => {
    const data = new Uint8Array([10, 20, 30, 40, 50, 60]);
    const { red, green, blue, width } = await seen(model, { ...WHOLE, data, format: 'grey' });
    assert.deepEqual({ red, green, blue, width }, { red: 35, green: 35, blue: 35, width: 3 });
  }));

test('pixels are RGBA unless the picture says otherwise, in any array of bytes or a buffer', () =>
  withModel(Watcher, async (model) => {
    const expected = await seen(model, { ...WHOLE, format: 'rgba' });
    const other = runInContext('new Uint8ClampedArray(24)', createContext());
    other.set(RGBA);
    const long = new Uint8Array(40);
    long.set(RGBA, 8);
    for (const data of [RGBA, new Uint8ClampedArray(RGBA), RGBA.slice().buffer, other, long.subarray(8, 32)]) {
      assert.deepEqual(await seen(model, { ...WHOLE, data }), expected);
    }
    assert.equal(expected.orientation, 1);
  }));

test('rows may have gaps between them, and the last one none behind it', () =>
  withModel(Watcher, async (model) => {
    const expected = await seen(model, WHOLE);
    const data = new Uint8Array(16 + 12).fill(255);
    data.set(RGBA.subarray(0, 12));
    data.set(RGBA.subarray(12), 16);
    assert.deepEqual(await seen(model, { ...WHOLE, data, rowBytes: 16 }), expected);
    assert.deepEqual(await seen(model, { ...WHOLE, data: data.buffer, rowBytes: 16 }), expected);
  }));

for (const [region, first, last] of [
  [{ left: 0, top: 0, right: 3, bottom: 2 }, 10, 160],
  [{ left: 1, top: 0, right: 3, bottom: 2 }, 40, 160],
  [{ left: 1, top: 1, right: 2, bottom: 2 }, 130, 130],
  [{ left: 0, top: 1, right: 3, bottom: 2 }, 100, 160],
]) {
  const { left, top, right, bottom } = region;
  test(`the model looks at columns ${left} to ${right} of rows ${top} to ${bottom} alone`, () =>
    withModel(Watcher, async (model) => {
      const gaps = new Uint8Array(2 * 20);
      gaps.set(RGBA.subarray(0, 12));
      gaps.set(RGBA.subarray(12), 20);
      for (const picture of [WHOLE, { ...WHOLE, data: gaps, rowBytes: 20 }]) {
        const found = await seen(model, { ...picture, region });
        assert.deepEqual([found['it\'s "first" \\'], found['最後']], [first, last]);
        assert.deepEqual([found.height, found.width], [bottom - top, right - left]);
      }
    }));
}

/** Four columns of two rows of luma, then two pixels of chroma. */
const CAMERA = { data: new Uint8Array([1, 2, 3, 4, 5, 6, 7, 8, 10, 20, 30, 40]), width: 4, height: 2, format: 'nv12' };

async function chromaOf(model, picture) {
  const { red, u, v, conversion, chromaHeight, chromaWidth } = await seen(model, picture);
  return [red, u, v, conversion, chromaHeight, chromaWidth];
}

test('luma and chroma reach the model as they lie in memory', () =>
  withModel(Watcher, async (model) => {
    assert.deepEqual(await chromaOf(model, CAMERA), [4.5, 20, 30, 1, 1, 2]);
    assert.deepEqual(await chromaOf(model, { ...CAMERA, format: 'nv21', conversion: 'bt709-video' }), [4.5, 30, 20, 4, 1, 2]);
    const apart = { data: CAMERA.data.subarray(0, 8), chroma: CAMERA.data.slice(8).buffer };
    assert.deepEqual(await chromaOf(model, { ...CAMERA, ...apart }), [4.5, 20, 30, 1, 1, 2]);
    const region = { left: 2, top: 0, right: 4, bottom: 2 };
    assert.deepEqual(await chromaOf(model, { ...CAMERA, region }), [5.5, 30, 40, 1, 1, 1]);
  }));

test('rows of luma and of chroma may have gaps of their own', () =>
  withModel(Watcher, async (model) => {
    const gaps = (rowBytes) => {
      const data = new Uint8Array(2 * rowBytes + 4).fill(255);
      for (const row of [0, 1, 2]) data.set(CAMERA.data.subarray(row * 4, row * 4 + 4), row * rowBytes);
      return data;
    };
    assert.deepEqual(await chromaOf(model, { ...CAMERA, data: gaps(6), rowBytes: 6 }), [4.5, 20, 30, 1, 1, 2]);
    const tall = { ...CAMERA, data: CAMERA.data.subarray(0, 8), height: 2 };
    const chroma = new Uint8Array([10, 20, 30, 40, 9]);
    assert.deepEqual(await chromaOf(model, { ...tall, chroma, chromaRowBytes: 5 }), [4.5, 20, 30, 1, 1, 2]);
  }));

test('of ten bits the upper eight are read', () =>
  withModel(Watcher, async (model) => {
    const data = new Uint8Array([...CAMERA.data].flatMap((byte) => [0xc0, byte]));
    const found = await chromaOf(model, { ...CAMERA, data, format: 'p010', conversion: 'bt709-video' });
    assert.deepEqual(found, [4.5, 20, 30, 4, 1, 2]);
  }));

test('pictures without chroma have one zero for it, and no conversion', () =>
  withModel(Watcher, async (model) => {
    assert.deepEqual((await chromaOf(model, WHOLE)).slice(1), [0, 0, 0, 1, 1]);
  }));

const NAMES = ['up', 'upMirrored', 'down', 'downMirrored', 'leftMirrored', 'right', 'rightMirrored', 'left'];

test('orientations reach the model by name and by number', () =>
  withModel(Watcher, async (model) => {
    for (const [index, name] of NAMES.entries()) {
      for (const orientation of [name, index + 1]) {
        const found = await seen(model, { ...WHOLE, orientation });
        assert.equal(found.orientation, index + 1, String(orientation));
      }
    }
  }));

test('pixels without gaps are handed on as they lie in memory, others are copied once', async () => {
  const record = await recording();
  await withModel(Watcher, async (model) => {
    const frame = RGBA.slice().buffer;
    await model.classify({ ...WHOLE, data: frame });
    await model.classify({ ...WHOLE, data: frame, region: { left: 0, top: 1, right: 3, bottom: 2 } });
    await model.classify({ ...WHOLE, data: frame, region: { left: 1, top: 1, right: 2, bottom: 2 } });
    const before = record.allocated.length;
    await model.classify({ ...WHOLE, data: frame, region: { left: 0, top: 0, right: 2, bottom: 2 } });
    const [whole, rows, pixel, copied] = record.runs;
    for (const each of [whole, rows, pixel]) assert.equal(each.buffers[0], frame);
    assert.deepEqual(whole.layout.slice(0, 6), [0, 24, 3, 2, 3, 4]);
    assert.deepEqual(rows.layout.slice(0, 6), [12, 12, 3, 1, 3, 4]);
    assert.deepEqual(pixel.layout.slice(0, 6), [16, 4, 3, 1, 1, 4]);
    assert.ok(record.allocated.slice(before).includes(copied.buffers[0]), 'native memory, which run does not copy');
    assert.deepEqual([...new Uint8Array(copied.buffers[0])], [...RGBA.subarray(0, 8), ...RGBA.subarray(12, 20)]);
  });
});

for (const [picture, message] of [
  [undefined, 'takes a picture, { data, width, height }, found undefined'],
  [RGBA, 'takes a picture, { data, width, height }, found Uint8Array'],
  [{ ...WHOLE, width: 0 }, 'has width 0, which is no whole number from 1 on'],
  [{ ...WHOLE, height: 1.5 }, 'has height 1.5, which is no whole number from 1 on'],
  [{ ...WHOLE, width: '3' }, 'has width 3, which is no whole number from 1 on'],
  [{ ...WHOLE, format: 'yuv' }, "has format 'yuv', which is none of rgba, bgra, argb, rgb, bgr, grey, nv12, nv21, p010"],
  [
    { ...WHOLE, format: 'toString' },
    "has format 'toString', which is none of rgba, bgra, argb, rgb, bgr, grey, nv12, nv21, p010",
  ],
  [
    { ...WHOLE, data: [...RGBA] },
    'takes its data as a Uint8Array, a Uint8ClampedArray or an ArrayBuffer, found Array',
  ],
  [
    { ...WHOLE, data: new Float32Array(24) },
    'takes its data as a Uint8Array, a Uint8ClampedArray or an ArrayBuffer, found Float32Array',
  ],
  [
    { ...WHOLE, data: RGBA.subarray(1) },
    '3 x 2 pixels of rgba are 24 bytes, and its data has 23: for rows with gaps between them say rowBytes',
  ],
  [
    { ...WHOLE, format: 'rgb' },
    '3 x 2 pixels of rgb are 18 bytes, and its data has 24: for rows with gaps between them say rowBytes',
  ],
  [{ ...WHOLE, rowBytes: 11 }, 'has rowBytes 11, and a row of 3 x 2 pixels of rgba has 12 bytes'],
  [{ ...WHOLE, rowBytes: 12.5 }, 'has rowBytes 12.5, and a row of 3 x 2 pixels of rgba has 12 bytes'],
  [{ ...WHOLE, rowBytes: 13 }, '3 x 2 pixels of rgba in rows of 13 bytes need 25 bytes, and its data has 24'],
  [
    { ...WHOLE, region: { left: 0, top: 0, right: 4, bottom: 2 } },
    'has region left 0, top 0, right 4, bottom 2, which is no part of 3 x 2 pixels',
  ],
  [
    { ...WHOLE, region: { left: 1, top: 1, right: 1, bottom: 2 } },
    'has region left 1, top 1, right 1, bottom 2, which is no part of 3 x 2 pixels',
  ],
  [
    { ...WHOLE, region: { left: 0.5, top: 0, right: 2, bottom: 2 } },
    'has region left 0.5, top 0, right 2, bottom 2, which is no part of 3 x 2 pixels',
  ],
  ...['width', 'height'].map((side) => [
    { ...CAMERA, [side]: 3 },
    "has format 'nv12', for which width, height and the edges of a region are even numbers",
  ]),
  [
    { ...CAMERA, region: { left: 1, top: 0, right: 4, bottom: 2 } },
    "has format 'nv12', for which width, height and the edges of a region are even numbers",
  ],
  [
    { ...CAMERA, data: CAMERA.data.subarray(0, 8) },
    '4 x 2 pixels of nv12 are 12 bytes, and its data has 8: for rows with gaps between them say rowBytes',
  ],
  [
    { ...CAMERA, data: CAMERA.data.subarray(0, 8), chroma: new Uint8Array(3) },
    'the chroma of 4 x 2 pixels of nv12 are 4 bytes, and its data has 3: ' +
      'for rows with gaps between them say chromaRowBytes',
  ],
  [
    { ...CAMERA, conversion: 'none' },
    'has conversion none, which is none of bt601-full, bt601-video, bt709-full, bt709-video',
  ],
  [{ ...WHOLE, region: null }, 'has region null, which has no edges'],
  ...[0, 9, 1.5, '1', 'sideways', null].map((orientation) => [
    { ...WHOLE, orientation },
    `has orientation ${orientation}, which is none of 1 to 8 and ${NAMES.join(', ')}`,
  ]),
]) {
  test(`refused: a picture that ${message}`, () =>
    withModel(Watcher, async (model) => {
      await assert.rejects(model.classify(picture), refusal('bad-input', `picture \`image\` ${message}`));
    }));
}

test('the best classes come first, and of equal ones the first', () =>
  withModel(Watcher, async (model) => {
    const grey = { data: new Uint8Array([2, 2]), width: 2, height: 1, format: 'grey' };
    const usual = await model.classify(grey);
    assert.deepEqual(usual, [
      { label: 'red', index: 0, score: 2 },
      { label: 'green', index: 1, score: 2 },
      { label: 'blue', index: 2, score: 2 },
    ]);
    const all = await model.classify(grey, { top: 100 });
    assert.deepEqual(
      all.map(({ index }) => index),
      [0, 1, 2, 5, 6, 7, 3, 4, 11, 12, 8, 9, 10],
    );
    assert.deepEqual(await model.classify(grey, { top: 1 }), usual.slice(0, 1));
  }));

for (const top of [0, -1, 1.5, NaN, '3', null]) {
  test(`refused: ${String(top)} classes, before anything is run`, async () => {
    const record = await recording();
    await withModel(Watcher, async (model) => {
      const message = `top is ${String(top)}, which is no whole number from 1 on`;
      await assert.rejects(model.classify(WHOLE, { top }), refusal('bad-options', message));
      assert.equal(record.runs.length, 0);
    });
  });
}

test('a run of tensors gives what the call in words of its own gives', () =>
  withModel(Watcher, async (model) => {
    assert.ok(model instanceof AnyModel);
    assert.equal(model.info.name, 'watcher');
    const { scores } = await model.run({
      imagePixels: { data: RGBA, shape: [2, 3, 4] },
      imageChannels: new BigInt64Array([0n, 1n, 2n]),
      imageOrientation: new BigInt64Array([1n]),
      imageChroma: { data: new Uint8Array(1), shape: [1, 1, 1] },
      imageConversion: new BigInt64Array(3),
    });
    const found = await model.classify(WHOLE, { top: Infinity });
    for (const { index, score } of found) assert.equal(scores.data[index], score);
  }));

test('a call is cancelled by its signal, and a model that was disposed of is not called', async () => {
  const model = await Watcher.load();
  const cancelled = refusal('cancelled', 'the call was cancelled');
  await assert.rejects(model.classify(WHOLE, { signal: AbortSignal.abort() }), cancelled);
  const under = model.classify(WHOLE);
  model.dispose();
  assert.equal((await under).length, 3);
  await assert.rejects(model.classify(WHOLE), refusal('disposed', 'Watcher was disposed of'));
});

test('what was found has a box, a score and the name of its class', () =>
  withModel(Finder, async (model) => {
    const boxes = { data: new Float32Array([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]), shape: [3, 4] };
    const scores = new Float32Array([0.5, 0.25, 0.125]);
    assert.deepEqual(await model.detect(boxes, scores, new BigInt64Array([1n, 0n, 7n])), [
      { label: 'dog', index: 1, score: 0.5, box: { left: 1, top: 2, right: 3, bottom: 4 } },
      { label: 'cat', index: 0, score: 0.25, box: { left: 5, top: 6, right: 7, bottom: 8 } },
      { label: '', index: 7, score: 0.125, box: { left: 9, top: 10, right: 11, bottom: 12 } },
    ]);
    const nothing = { data: new Float32Array(0), shape: [0, 4] };
    assert.deepEqual(await model.detect(nothing, new Float32Array(0), new BigInt64Array(0)), []);
  }));

test('several results come together, each under its name', () =>
  withModel(Everything, async (model) => {
    const picture = { data: new Uint8Array([1, 2, 3, 255]), width: 4, height: 1, format: 'grey', orientation: 'left' };
    const found = await model.predict(picture, new BigInt64Array([2n, 0n, 1n]));
    assert.deepEqual(Object.keys(found), ['seen', 'where', 'vector', 'words', 'raw', 'made']);
    assert.deepEqual(found.seen, [
      { label: '', index: 0, score: 65.25 },
      { label: '', index: 1, score: 65.25 },
    ]);
    assert.deepEqual(found.where, {
      width: 4,
      height: 1,
      classes: new Uint8Array([1, 2, 3, 255]),
      scores: new Float32Array([1, 2, 3, 255]),
      labels: ['no', 'yes'],
    });
    assert.deepEqual(found.vector, new Float32Array([65.25, 65.25, 65.25]));
    assert.equal(found.words.text, "語a'");
    assert.ok(Math.abs(found.words.score - 0.1) < 1e-6);
    assert.deepEqual(found.raw, { type: 'int64', data: new BigInt64Array([8n]), shape: [] });
    const grey = [1, 2, 3, 255].flatMap((each) => [each, each, each, each]);
    assert.deepEqual(found.made, { width: 4, height: 1, data: new Uint8ClampedArray(grey) });
    const again = await model.predict(found.made, new BigInt64Array(0));
    assert.deepEqual(again.where.classes, new Uint8Array([1, 2, 3, 255]), 'a picture for another model');
    const dark = { ...picture, data: new Uint8Array(4) };
    const { seen: none, words } = await model.predict(dark, new BigInt64Array(0));
    assert.deepEqual([none, words], [[], { text: '', score: 0 }], 'below the threshold, and nothing to read');
  }));

/** What the model heard: sum, frames, channels, rate, sum of the calls before, and their number. */
async function heard(call) {
  const found = await call;
  return [...found].sort((one, other) => one.index - other.index).map(({ score }) => score);
}

test('sounds reach the model with their rate and channels, whatever their samples are', () =>
  withModel(ListenerModel, async (model) => {
    const floats = new Float32Array([0.5, 0.25, -0.5, 1, 0.25, 0.5]);
    assert.deepEqual(await heard(model.classify({ samples: floats, rate: 44100, channels: 2 })), [2, 3, 2, 44100, 0, 0]);
    model.reset();
    const whole = new Int16Array([16384, -32768, 8192]);
    assert.deepEqual(await heard(model.classify({ samples: whole, rate: 8000 })), [-0.25, 3, 1, 8000, 0, 0]);
  }));

test('a model of whole numbers gets floats as such, cut off where they are too loud', () =>
  withModel(Recorder, async (model) => {
    const samples = new Float32Array([0, 0.5, -1, 1, 2, -2, NaN]);
    assert.deepEqual(await heard(model.classify({ samples, rate: 8000 })), [0, 16384, -32768, 32767, 32767, -32768, 0]);
    const whole = new Int16Array([1, -2, 3]);
    assert.deepEqual(await heard(model.classify({ samples: whole, rate: 8000, channels: 3 })), [1, -2, 3]);
  }));

test('the code points of a text reach the graph', () =>
  withModel(Speller, async (model) => {
    const points = async (text) => [...(await model.predict(text)).spelled.data];
    assert.deepEqual(await points('a\u0000\u00e9\u{1f600}'), [0x61, 0, 0xe9, 0x1f600]);
    assert.deepEqual(await points('\ude00\ud83d'), [0xde00, 0xd83d]);
    assert.deepEqual(await points(''), [-1]);
    const long = await points('ab'.repeat(524288));
    assert.equal(long.length, 1048576);
    assert.equal(long.at(-1), 98);
    await assert.rejects(model.predict(7), { code: 'bad-input', message: 'text `text` takes a string, found number' });
  }));

const TEXTS = JSON.parse(readFileSync(process.env.TEXTS, 'utf8'));

test('a sound that a model makes is played as a file, is silent where it is no number, and may be empty', () =>
  withModel(Player, async (model) => {
    const steps = [0, 0.5, -0.5, 1.5, -1.5, 32766.5, -32767.5, 1e6, -1e6, NaN];
    const samples = Float32Array.from(steps, (step) => step / 32768);
    const played = await model.render({ samples, rate: 8000, channels: 2 });
    assert.deepEqual({ ...played, samples: [...played.samples] }, { rate: 44100, channels: 2, samples: [...samples.slice(0, 9), 0] });
    assert.deepEqual([...new Uint8Array(toWav(played))], TEXTS.wav);
    assert.deepEqual([...new Uint8Array(toWav({ samples: new Int16Array([0, 1, 0, 2]), rate: 44100, channels: 2 }))].slice(44), [0, 0, 1, 0, 0, 0, 2, 0]);
    const nothing = await model.render({ samples, rate: 9000, channels: 2 });
    assert.equal(nothing.samples.length, 0);
    assert.equal(toWav(nothing).byteLength, 44);
    await assert.rejects(model.render(nothing), { code: 'bad-input', message: 'sound `audio` has no samples' });
  }));

test('every awkward text has the tokens of the tokenizer', () =>
  withModel(Tokens, async (model) => {
    assert.ok(TEXTS.awkward.length > 20);
    for (const [place, units] of TEXTS.awkward.entries()) {
      const { ids } = await model.predict(String.fromCharCode(...units));
      assert.deepEqual(Array.from(ids.data, Number), TEXTS.ids[place], `text ${place}`);
    }
  }));

const LISTED = TEXTS.listed.map((units) => String.fromCharCode(...units));

function near(found, expected) {
  assert.equal(found.length, expected.length);
  for (const [place, numbers] of expected.entries()) {
    const row = Array.from(found[place]);
    assert.equal(row.length, numbers.length);
    for (const [at, number] of numbers.entries()) {
      assert.ok(Math.abs(row[at] - number) <= 2e-6 * Math.max(1, Math.abs(number)), `${row} is not ${numbers}`);
    }
  }
}

async function alone(run) {
  const found = [];
  for (const text of LISTED) found.push(await run(text));
  return found;
}

test('each of several texts has its result', async () => {
  await withModel(Embedder, async (model) => {
    near(await model.embed(LISTED), TEXTS.results.embedder);
    near(await alone((text) => model.embed(text)), TEXTS.results.embedder);
    assert.deepEqual(await model.embed([]), []);
    assert.deepEqual(model.embedSync([]), []);
    await assert.rejects(model.embed(['a', 7]), { code: 'bad-input' });
    await assert.rejects(model.embed(7), { code: 'bad-input' });
    const signal = AbortSignal.abort();
    await assert.rejects(model.embed(LISTED, { signal }), { code: 'cancelled' });
  });
  await withModel(Topics, async (model) => {
    const scores = (classes) => classes.toSorted((one, other) => one.index - other.index).map(({ score }) => score);
    near((await model.classify(LISTED, { top: 3 })).map(scores), TEXTS.results.topics);
    near(await alone(async (text) => scores(await model.classify(text, { top: 3 }))), TEXTS.results.topics);
    const best = (await model.classify(LISTED)).map((classes) => classes.map(({ label }) => label));
    assert.deepEqual(best, await alone(async (text) => (await model.classify(text)).map(({ label }) => label)));
  });
});

test('each of several texts has its result at once', async () => {
  await recording();
  await withModel(Topics, async (model) => {
    const found = await model.classify(LISTED);
    assert.deepEqual(model.classifySync(LISTED), found);
    assert.deepEqual(model.classifySync([]), []);
    const first = await model.classify(LISTED[0]);
    assert.deepEqual(model.classifySync(LISTED[0]), first);
    assert.deepEqual(first, found[0]);
    assert.throws(() => model.classifySync(LISTED, { top: 0 }), { code: 'bad-options' });
  });
});

test('several pairs have scores, and documents are ranked in few runs', () =>
  withModel(Judge, async (model) => {
    const score = (found) => [found];
    near((await model.score([TEXTS.sought], LISTED)).map(score), TEXTS.results.judge);
    near(await alone(async (text) => score(await model.score(TEXTS.sought, text))), TEXTS.results.judge);
    assert.deepEqual(await model.score([], []), []);
    await assert.rejects(model.score(LISTED, LISTED.slice(0, 2)), { code: 'bad-input', message: /5 and 2 texts/ });
    const ranked = await model.rank(TEXTS.sought, [...LISTED, ...LISTED, ...LISTED]);
    near(ranked.map((each) => [each.index, each.score]), TEXTS.results.ranked);
  }));

test('several results of several texts have a row each', () =>
  withModel(RowsModel, async (model) => {
    const longest = Math.max(...TEXTS.results.rows.map((ids) => ids.length));
    const found = await model.predict(LISTED);
    for (const [place, { ids, result }] of found.entries()) {
      const known = TEXTS.results.rows[place];
      assert.deepEqual(ids.shape, [1, longest]);
      assert.deepEqual(Array.from(ids.data, Number), [...known, ...Array(longest - known.length).fill(0)]);
      assert.equal(result.length, 2);
      const { ids: own } = await model.predict(LISTED[place]);
      assert.deepEqual(Array.from(own.data, Number), known);
    }
  }));

test('parts of a text are places of the string', async () => {
  await recording();
  await withModel(Tagger, async (model) => {
    const expected = TEXTS.spans.map(([label, text, start, end, score]) => ({ label, text, start, end, score }));
    assert.equal(expected.length, 4);
    assert.deepEqual(await model.entities(TEXTS.tagged), expected);
    assert.deepEqual(model.entitiesSync(TEXTS.tagged), expected);
    for (const { start, end, text } of expected) assert.equal(TEXTS.tagged.slice(start, end), text);
    assert.deepEqual(await model.entities(''), []);
    await withModel(Noter, async (other) => {
      const { tags, copied } = await other.predict('7ab', TEXTS.tagged);
      assert.deepEqual(tags, expected);
      assert.deepEqual([...copied.data], [0x37, 0x61, 0x62]);
    });
    const alone = await model.entities('\ude00\ud83d1\ude00z2\ud83d');
    assert.deepEqual(alone.map(({ start, end }) => [start, end]), [[2, 4], [5, 7]]);
    assert.deepEqual(alone.map(({ text }) => text), ['1\ude00', '2\ud83d']);
  });
});

test('documents are ranked best first, and none after the signal', () =>
  withModel(Ranker, async (model) => {
    const expected = TEXTS.ranked.map(([index, score]) => ({ index, score }));
    assert.equal(await model.score('a', 'banana'), 3);
    assert.deepEqual(await model.rank('a', TEXTS.documents), expected);
    assert.deepEqual(await model.rank('a', []), []);
    await assert.rejects(model.rank('a', ['b', 7]), { code: 'bad-input' });
    const controller = new AbortController();
    const taken = [];
    const documents = {
      *[Symbol.iterator]() {
        for (const document of ['a', 'b', 'c', 'd']) {
          taken.push(document);
          if (document === 'c') controller.abort();
          yield document;
        }
      },
    };
    await assert.rejects(model.rank('a', documents, { signal: controller.signal }), { code: 'cancelled' });
    assert.deepEqual(taken, ['a', 'b', 'c']);
  }));

test('vectors are compared as everywhere', () => {
  const vectors = TEXTS.vectors.map((each) => Float32Array.from(each));
  const query = vectors[2];
  assert.deepEqual(vectors.map((each) => Similarity.cosine(query, each)), TEXTS.cosines);
  const all = Similarity.nearest(query, vectors, Infinity);
  assert.deepEqual(all.map(({ index }) => index), TEXTS.nearest);
  assert.deepEqual(Similarity.nearest(query, vectors, 3), all.slice(0, 3));
  const odd = [NaN, 1, 0, -0, -1].map((each) => Float32Array.of(each));
  const places = Similarity.nearest(Float32Array.of(1), odd, 9).map(({ index }) => index);
  assert.deepEqual(places, [1, 2, 3, 4, 0]);
  const unequal = refusal('bad-input', 'vectors of 3 and 2 numbers cannot be compared');
  assert.throws(() => Similarity.cosine(new Float32Array(3), new Float32Array(2)), unequal);
  const none = refusal('bad-options', 'count is 0, which is no whole number from 1 on');
  assert.throws(() => Similarity.nearest(query, vectors, 0), none);
});

const SOUND = { samples: new Float32Array(6), rate: 16000 };

for (const [sound, message] of [
  [null, 'takes a sound, { samples, rate }, found null'],
  [new Float32Array(6), 'takes a sound, { samples, rate }, found Float32Array'],
  [
    { ...SOUND, samples: new Uint8Array(6) },
    'takes its samples as a Float32Array or an Int16Array, found Uint8Array',
  ],
  [{ ...SOUND, samples: [0, 1] }, 'takes its samples as a Float32Array or an Int16Array, found Array'],
  [{ ...SOUND, samples: new Float32Array(0) }, 'has no samples'],
  [{ ...SOUND, rate: 0 }, 'has rate 0, which is no whole number from 1000 to 768000'],
  [{ ...SOUND, rate: 44100.5 }, 'has rate 44100.5, which is no whole number from 1000 to 768000'],
  [{ samples: SOUND.samples }, 'has rate undefined, which is no whole number from 1000 to 768000'],
  [{ ...SOUND, channels: 0 }, 'has channels 0, which is no whole number from 1 on'],
  [{ ...SOUND, channels: 4 }, 'has 6 samples, which is no multiple of its 4 channels'],
]) {
  test(`refused: a sound that ${message}`, () =>
    withModel(ListenerModel, async (model) => {
      await assert.rejects(model.classify(sound), refusal('bad-input', `sound \`audio\` ${message}`));
      assert.deepEqual((await heard(model.classify(SOUND))).slice(4), [0, 0], 'the state is as it was');
    }));
}

function sound(...samples) {
  return { samples: new Float32Array(samples), rate: 8000 };
}

test('a state is carried from call to call until it is reset, and each model has its own', () =>
  withModel(ListenerModel, (one) =>
    withModel(ListenerModel, async (other) => {
      const carried = async (model, value) => (await heard(model.classify(sound(value)))).slice(4);
      assert.deepEqual(await carried(one, 5), [0, 0]);
      assert.deepEqual(await carried(one, 6), [5, 1]);
      assert.deepEqual(await carried(other, 1), [0, 0]);
      assert.deepEqual(await carried(one, 7), [11, 2]);
      one.reset();
      assert.deepEqual(await carried(one, 1), [0, 0]);
      assert.deepEqual(await carried(one, 1), [1, 1]);
    }),
  ));

test('calls of a model with a state follow one another, on what was passed when they were made', () =>
  withModel(ListenerModel, async (model) => {
    const samples = new Float32Array(1);
    const calls = [1, 2, 3, 4].map((value) => {
      samples[0] = value;
      return heard(model.classify({ samples, rate: 8000 }));
    });
    const found = (await Promise.all(calls)).map(([sum, , , , before, count]) => [sum, before, count]);
    assert.deepEqual(found, [
      [1, 0, 0],
      [2, 1, 1],
      [3, 3, 2],
      [4, 6, 3],
    ]);
  }));

test('a call that fails leaves the state as it was, and so do those that are under way when it is reset', () =>
  withModel(ListenerModel, async (model) => {
    const first = model.classify(sound(1));
    const failed = model.classify(sound(100), { signal: AbortSignal.abort() });
    const second = heard(model.classify(sound(2)));
    await first;
    await assert.rejects(failed, (error) => error.code === 'cancelled');
    assert.deepEqual((await second).slice(4), [1, 1]);
    const late = heard(model.classify(sound(3)));
    model.reset();
    const anew = heard(model.classify(sound(4)));
    assert.deepEqual([(await late).slice(4), (await anew).slice(4)], [[3, 2], [0, 0]]);
    assert.deepEqual((await heard(model.classify(sound(5)))).slice(4), [4, 1]);
    const last = model.classify(sound(6));
    model.reset();
    await last;
    assert.deepEqual((await heard(model.classify(sound(7)))).slice(4), [0, 0]);
  }));

test('calls of a model with a state that wait for their turn have places in its queue', async () => {
  const model = await ListenerModel.load({ queue: 3 });
  const endings = async (calls) => (await Promise.allSettled(calls)).map(({ status, reason }) => reason?.code ?? status);
  const calls = (count) => Array.from({ length: count }, (_, value) => model.classify(sound(value)));
  assert.deepEqual(await endings(calls(5)), ['fulfilled', 'fulfilled', 'fulfilled', 'busy', 'busy']);
  const raw = () => model.run({ samples: { data: new Float32Array(1), shape: [1, 1] }, rate: new BigInt64Array(1), memory: new Float32Array(2) });
  assert.deepEqual(await endings([...calls(2), raw(), raw()]), ['fulfilled', 'fulfilled', 'fulfilled', 'busy']);
  const { signal } = new AbortController();
  assert.deepEqual(await endings([...calls(2), model.classify(sound(1), { signal: AbortSignal.abort() })]), ['fulfilled', 'fulfilled', 'cancelled']);
  assert.deepEqual(await endings([...calls(2), model.classify(sound(1), { signal })]), ['fulfilled', 'fulfilled', 'fulfilled']);
  model.dispose();
});

test('frames are what the method of the model takes', () =>
  withModel(Watcher, async (model) => {
    const found = [];
    async function* pictures() {
      yield WHOLE;
    }
    for await (const classes of model.frames(pictures(), { top: 2 })) found.push(classes.length);
    assert.deepEqual(found, [2]);
    await withModel(Everything, async (several) => {
      async function* both() {
        yield [WHOLE, new BigInt64Array([1n])];
      }
      const [[picture, options]] = [(await both().next()).value];
      const expected = await several.predict(picture, options);
      for await (const all of several.frames(both())) assert.deepEqual(all, expected);
    });
  }));

test('a call at once gives what a call gives, and carries the same state', async () => {
  const record = await recording();
  await withModel(Watcher, async (model) => {
    assert.throws(() => model.classifySync(WHOLE), refusal('runtime', 'no kernel'));
    assert.throws(
      () => model.classifySync({ ...WHOLE, width: 0 }),
      refusal('bad-input', 'picture `image` has width 0, which is no whole number from 1 on'),
    );
    assert.throws(
      () => model.classifySync(WHOLE, { top: 0 }),
      refusal('bad-options', 'top is 0, which is no whole number from 1 on'),
    );
    await model.classify(WHOLE);
    const [asked] = record.runs.slice(-1);
    model.classifySync(WHOLE, { top: 2 });
    const [atOnce] = record.runs.slice(-1);
    assert.equal(atOnce.buffers[0], RGBA.buffer);
    assert.deepEqual(atOnce.layout, asked.layout);
  });
});

test('a call at once of a model with a state does not overtake one that is under way', async () => {
  const record = await recording();
  await withModel(ListenerModel, async (model) => {
    const call = model.classify(sound(1));
    assert.throws(() => model.classifySync(sound(2)), {
      code: 'unsupported',
      message: 'a call that is under way comes first, and a call at once cannot wait for it',
    });
    await call;
    model.classifySync(sound(3));
    const [atOnce] = record.runs.slice(-1);
    assert.deepEqual([...new Float32Array(atOnce.buffers[2])], [1, 1], 'what the call before it left');
    model.classifySync(sound(4));
    assert.equal(record.runs.at(-1).buffers[2], atOnce.buffers[4], 'what the call at once left');
  });
});

test('without native code there is no call at once', () =>
  withModel(Watcher, (model) => {
    assert.throws(
      () => model.classifySync(WHOLE),
      (error) => error.code === 'unsupported',
    );
  }));

test('memory of allocate is memory for pictures', () =>
  withModel(Watcher, async (model) => {
    const data = allocate('uint8', 24);
    data.set(RGBA);
    assert.equal((await seen(model, { ...WHOLE, data })).red, 85);
  }));
