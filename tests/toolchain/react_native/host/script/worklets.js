// Cases on models in worklets: other threads, each with a JavaScript of its own.

import { EveryType, OrientationModel, SileroVad } from '@example/models';

import { check, equal, fails, later, text, until, untilMet } from './checks.js';
import { engine } from './engine.js';

const PIXELS = 3 * 224 * 224;
const [INPUT] = Object.keys(OrientationModel.descriptor.inputs);
const [OUTPUT] = Object.keys(OrientationModel.descriptor.outputs);
const page = (pages) => `({ ${INPUT}: { data: Float32Array.from({ length: ${pages} * ${PIXELS} }, (_, index) => Math.sin(index / 50)), shape: [${pages}, 3, 224, 224] } })`;
const SPEECH = `({ input: new Float32Array(576).fill(0.1), state: new Float32Array(256), sr: new BigInt64Array([16000n]) })`;
const EVERY = `({
  f32: new Float32Array([1, 2, 3, 4, 5, 6]), f64: new Float64Array([1.5, 2, 3, 4, 5, 1e300]),
  f16: new Uint16Array([0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x7c00]), i8: new Int8Array([-128, 2, 3, 4, 5, 127]),
  i16: new Int16Array(6), i32: new Int32Array([1, 2, 3, 4, 5, 2147483647]), i64: new BigInt64Array([1n, 2n, 3n, 4n, 5n, 9223372036854775807n]),
  u8: new Uint8Array([255, 2, 3, 4, 5, 6]), flag: new Uint8Array([1, 0, 1, 0, 0, 1]),
  word: ['', 'zwei', ' \\t', '\u{1f600}', 'f\u00fcnf', 'x'.repeat(5000)], scalar: new Float32Array([21]),
  rows: { data: new Float32Array([1, 2, 3, 4, 5, 6]), shape: [3, 2] },
})`;
/** In the other JavaScript: JSON as checks.js writes it. */
const TEXT = `const text = ${String(text)};`;
const here = (script) => (0, eval)(script);
const failing = (script) => `(() => { try { ${script}; return 'no error'; } catch (error) { return error.message; } })()`;

/** The result of a script on a thread of its own, where `model` is the worklet. */
async function elsewhere(worklet, script) {
  const thread = host.startThread(worklet, `${TEXT} ${script}`);
  await later(1);
  return host.joinThread(thread);
}

/** Every model gives on another thread what it gives here. */
export async function worksInWorklets() {
  for (const [definition, inputs] of [[OrientationModel, page(2)], [SileroVad, SPEECH], [EveryType, EVERY]]) {
    const model = await definition.load({ threads: 1 });
    const expected = text(model.runSync(here(inputs)));
    const worklet = model.worklet();
    equal(Object.keys(worklet), ['run'], 'what it has');
    equal(worklet.other, undefined, 'and nothing else');
    const found = await elsewhere(worklet, `text(model.run(${inputs}))`);
    check(found === expected, `${definition.descriptor.name}: found ${found.slice(0, 300)}, expected ${expected.slice(0, 300)}`);
    check(text(worklet.run(here(inputs))) === expected, 'and on the thread of JavaScript itself');
    const [first, second] = [worklet.run(here(inputs)), worklet.run(here(inputs))];
    for (const key of Object.keys(first).filter((each) => ArrayBuffer.isView(first[each].data))) {
      check(first[key].data.buffer !== second[key].data.buffer, 'memory of its own');
    }
    model.dispose();
    equal(text(first), expected, 'outputs outlive the model');
  }
}

/** Shapes that are known need not be passed, and parts of buffers are read where they lie. */
export async function worksOnPartsOfBuffers() {
  const model = await OrientationModel.load({ threads: 1 });
  const worklet = model.worklet();
  const expected = text(model.runSync(here(page(1)))[OUTPUT].data);
  const script = (data) => `text(model.run({ ${INPUT}: ${data} }).${OUTPUT}.data)`;
  const whole = `Float32Array.from({ length: ${PIXELS} }, (_, index) => Math.sin(index / 50))`;
  equal(await elsewhere(worklet, script(whole)), expected, 'a size that is open is inferred');
  const longer = `(() => { const longer = new Float32Array(${PIXELS} + 20).fill(1e9); longer.set(${whole}, 7); return longer.subarray(7, 7 + ${PIXELS}); })()`;
  equal(await elsewhere(worklet, script(longer)), expected, 'a part of a buffer');
  model.dispose();
}

export async function refusesInWorklets() {
  const model = await OrientationModel.load({ threads: 1 });
  const worklet = model.worklet();
  const data = `new Float32Array(${PIXELS})`;
  for (const [inputs, words] of [
    ['', 'inputs come in an object'],
    ['5', 'inputs come in an object'],
    ['{}', `input \`${INPUT}\` takes a Float32Array`],
    [`{ ${INPUT}: [1, 2] }`, 'takes a Float32Array'],
    [`{ ${INPUT}: new Int32Array(${PIXELS}) }`, 'takes a Float32Array'],
    [`{ ${INPUT}: new Float32Array(5) }`, ''],
    [`{ ${INPUT}: { data: new Float32Array(5), shape: [1, 3, 224, 224] } }`, 'expected 150528 elements'],
    [`{ ${INPUT}: { data: ${data}, shape: [1, 3, 448, 112] } }`, 'another shape'],
    [`{ ${INPUT}: { data: ${data}, shape: [3, 224, 224] } }`, 'another shape'],
    [`{ ${INPUT}: { data: ${data}, shape: [-1, 3, 224, 224] } }`, ''],
    [`{ ${INPUT}: { data: ${data}, shape: [0.5, 3, 224, 224] } }`, ''],
    [`{ ${INPUT}: { data: ${data}, shape: ['1', 3, 224, 224] } }`, 'a shape of numbers'],
    [`{ ${INPUT}: { data: ${data}, shape: 'wide' } }`, 'a shape of numbers'],
    [`{ ${INPUT}: Object.create(${data}, { byteLength: { value: 1e15 }, byteOffset: { value: 0 }, buffer: { value: new ArrayBuffer(8) } }) }`, ''],
    [`{ ${INPUT}: Object.create(${data}, { buffer: { value: {} } }) }`, 'not an ArrayBuffer'],
  ]) {
    const found = await elsewhere(worklet, failing(`model.run(${inputs})`));
    check(found.startsWith('[bad-input]') && found.includes(words), `${inputs}: ${found}`);
  }
  const thrown = failing(`model.run({ get ${INPUT}() { throw new Error('mine'); } })`);
  equal(await elsewhere(worklet, thrown), 'mine', 'an error of the app');
  const words = await EveryType.load({ threads: 1 });
  for (const [change, expected] of [
    ['word: "text"', 'array of strings'], ['word: [1, 2, 3, 4, 5, 6]', 'array of strings'], ['word: ["a"]', 'strings do not fill'],
    ['rows: new Float32Array(6)', 'pass them too'],
  ]) {
    const found = await elsewhere(words.worklet(), failing(`model.run({ ...${EVERY}, ${change} })`));
    check(found.startsWith('[bad-input]') && found.includes(expected), `${change}: ${found}`);
  }
  words.dispose();
  await fails(() => engine.worklet(12345, [], []), 'disposed');
  await fails(() => engine.worklet(model.serving.latest.outcome.opened.session, [], [OUTPUT]), 'bad-input', 'names');
  await fails(() => { worklet.run = 1; }, undefined);
  model.dispose();
}

/** A model is disposed of while other threads run it: runs end whole, later ones fail. */
export async function disposesInWorklets() {
  const before = host.threads();
  await untilMet(async (wait) => {
    const model = await OrientationModel.load({ threads: 1 });
    const worklet = model.worklet();
    const expected = text(model.runSync(here(page(2))));
    const loop = `(() => {
      const inputs = ${page(2)};
      const found = [];
      try {
        for (;;) found.push(text(model.run(inputs)));
      } catch (error) {
        return text([found.length, found.every((each) => each === found[0]) ? found[0] : 'others', error.message]);
      }
    })()`;
    const threads = [0, 1].map(() => host.startThread(worklet, `${TEXT} ${loop}`));
    const run = model.run(here(page(2)));
    await run;
    await later(30 * (wait - 1));
    model.dispose();
    let count = 0;
    for (const thread of threads) {
      const [runs, found, message] = JSON.parse(host.joinThread(thread));
      count += runs;
      check(message.startsWith('[disposed]'), message);
      check(runs === 0 || found === expected, `${runs} runs gave ${found}`);
    }
    await fails(() => worklet.run(here(page(2))), 'disposed');
    await fails(() => model.worklet(), 'disposed');
    return count > 0;
  });
  const sweep = async () => (await SileroVad.load({ threads: 1 })).dispose();
  await until(() => host.threads() <= before + 3, () => `threads: ${before} before, ${host.threads()} after`, sweep);
}

/** JavaScript ends while a worklet runs: its thread goes on until the model is gone. */
export async function endsAmidWorklets() {
  const model = await OrientationModel.load({ threads: 1 });
  host.startThread(model.worklet(), `const inputs = ${page(1)}; for (let run = 0; run < 200; run += 1) model.run(inputs);`);
  await later(plan.delay);
  return null;
}
