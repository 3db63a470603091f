// Cases on frames of a camera, on a real model that is slower than they come.

import { Orientation } from '@example/models';

import { check, equal, fails, later } from './checks.js';

const PAGES = 4;
const FRAMES = 60;
const PIXELS = PAGES * 3 * 224 * 224;
const [INPUT] = Object.keys(Orientation.descriptor.inputs);
const [OUTPUT] = Object.keys(Orientation.descriptor.outputs);
const frame = (number) => ({ [INPUT]: { data: new Float32Array(PIXELS).fill(number / FRAMES), shape: [PAGES, 3, 224, 224] } });
const values = (outputs) => Array.from(outputs[OUTPUT].data);

/** A camera with a frame every 5 ms: an object with `next` and `return` alone. */
function camera() {
  const made = { count: 0, isReturned: false };
  made.next = async () => {
    if (made.count === FRAMES) return { done: true };
    await later(5);
    made.count += 1;
    return { done: false, value: frame(made.count) };
  };
  made.return = async () => {
    made.isReturned = true;
    return { done: true };
  };
  return made;
}

export async function dropsAllButTheLatestFrame() {
  const model = await Orientation.load({ threads: 1 });
  const expected = new Map();
  for (let number = 1; number <= FRAMES; number += 1) expected.set(String(values(model.runSync(frame(number)))), number);
  const source = camera();
  const found = [];
  for await (const outputs of model.frames(source)) found.push(expected.get(String(values(outputs))));
  check(found.length >= 2 && found.length < FRAMES, `some are dropped: ${found}`);
  equal(found, [...found].sort((one, other) => one - other), 'in order');
  equal(found[found.length - 1], FRAMES, 'the last frame is not dropped');
  equal(source.isReturned, false, 'it ended by itself');
  model.dispose();
}

/** Leaving the loop cancels the run that is under way: the model is free at once. */
export async function leavingFramesCancels() {
  const model = await Orientation.load({ threads: 1 });
  const source = camera();
  const frames = model.frames(source);
  const started = host.now();
  await frames.next();
  const whole = host.now() - started;
  const pending = frames.next();
  await later(10);
  const left = host.now();
  equal(await frames.return(), { done: true }, 'the end');
  equal(await pending, { done: true }, 'the result that was waited for');
  check(host.now() - left < whole / 2, `cancelled after ${host.now() - left} ms, a run takes ${whole} ms`);
  check(source.isReturned, 'the camera was told');
  await model.run(frame(1));
  model.dispose();
  await fails(() => model.frames(camera()).next(), 'disposed');
}
