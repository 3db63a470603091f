// Cases on frames of a camera, on a real model that is slower than they come.

import { OrientationModel } from '@example/models';

import { atOnce, check, equal, fails, later, text, untilMet } from './checks.js';

const FRAMES = 24;
const BURST = 6;
const PIXELS = 3 * 224 * 224;
const [INPUT] = Object.keys(OrientationModel.descriptor.inputs);
const [OUTPUT] = Object.keys(OrientationModel.descriptor.outputs);
const frame = (number) => ({ [INPUT]: { data: new Float32Array(PIXELS).fill(number / FRAMES), shape: [1, 3, 224, 224] } });
const values = (outputs) => Array.from(outputs[OUTPUT].data);

/**
 * A camera whose frames come at once but for the first of each burst, which comes after a result: an object with `next`
 * and `return` alone.
 */
function camera() {
  const made = { count: 0, isReturned: false, resume: () => undefined };
  made.next = async () => {
    if (made.count === FRAMES) return { done: true };
    if (made.count > 0 && made.count % BURST === 0) await new Promise((resolve) => void (made.resume = resolve));
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
  const model = await OrientationModel.load({ threads: 1 });
  const expected = new Map();
  for (let number = 1; number <= FRAMES; number += 1) expected.set(String(values(model.runSync(frame(number)))), number);
  const source = camera();
  const found = [];
  for await (const outputs of model.frames(source)) {
    found.push(expected.get(String(values(outputs))));
    source.resume();
  }
  check(found.length >= 2 && found.length < FRAMES, `some are dropped: ${found}`);
  equal(found, [...found].sort((one, other) => one - other), 'in order');
  equal(found[found.length - 1], FRAMES, 'the last frame is not dropped');
  equal(source.isReturned, false, 'it ended by itself');
  model.dispose();
}

/** Leaving the loop cancels the run that is under way: the model is free at once. */
export async function leavingFramesCancels() {
  await untilMet(async (wait) => {
    const codes = [];
    const observer = { onRun: ({ error }) => void codes.push(error?.code ?? 'whole') };
    const model = await OrientationModel.load({ threads: 1, observer });
    const source = camera();
    const frames = model.frames(source);
    await frames.next();
    const pending = frames.next();
    await later(wait);
    equal(await frames.return(), { done: true }, 'the end');
    await atOnce();
    const hadBegun = codes.length === 1; // a run that waits is told of at once
    const last = await pending;
    check(source.isReturned, 'the camera was told');
    await model.run(frame(1));
    model.dispose();
    await fails(() => model.frames(camera()).next(), 'disposed');
    return hadBegun && text([last, codes]) === text([{ done: true }, ['whole', 'cancelled', 'whole']]);
  });
}
