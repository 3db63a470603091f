// Cases on what models do by themselves: when memory is short, and when a provider fails.

import { OrientationModel } from '@example/models';
import { AppState } from 'react-native';

import { equal, fails } from './checks.js';
import { engine } from './engine.js';

const PIXELS = 3 * 224 * 224;
const [INPUT] = Object.keys(OrientationModel.descriptor.inputs);
const [OUTPUT] = Object.keys(OrientationModel.descriptor.outputs);
const page = (pages = 1) => ({ [INPUT]: { data: new Float32Array(pages * PIXELS).fill(0.5), shape: [pages, 3, 224, 224] } });
const values = async (model, inputs = page()) => (await model.run(inputs))[OUTPUT].data;

/** The session of a model goes when memory is short, and comes again with its next run. */
export async function releasesWhenMemoryIsShort() {
  const told = [];
  const observer = { onLoad: () => void told.push('load'), onRelease: ({ reason }) => void told.push(reason) };
  const model = await OrientationModel.load({ threads: 1, observer });
  const { session } = model.serving.latest.outcome.opened;
  const expected = await values(model);
  AppState.warn();
  await fails(() => engine.runSync(session, [], [], []), 'disposed');
  const inputs = page();
  const again = values(model, inputs);
  inputs[INPUT].data.fill(9);
  equal(await again, expected, 'what it computes afterwards');
  const under = values(model, page(4));
  AppState.warn();
  await under;
  equal(told, ['load', 'memory', 'load'], 'while it runs it is not released');
  equal(model.runSync(page())[OUTPUT].data, expected, 'and at once');
  AppState.warn();
  equal(await values(model), expected, 'it stays, for it runs at once');
  model.dispose();
  equal(told, ['load', 'memory', 'load', 'close'], 'what an observer hears');
  equal(AppState.listeners.size, 0, 'listeners that are left');
}

/** A provider that ONNX Runtime has here starts, and fails from some run on. */
export async function retriesOnTheCpu() {
  const [setup] = OrientationModel.descriptor.platforms.ios.providers;
  Object.assign(setup, { registeredName: 'AZURE', executionProvider: 'AzureExecutionProvider', hidesNodes: false });
  const told = [];
  const observer = { onRun: (event) => void told.push([event.provider, event.error?.code ?? null, event.isRetry]) };
  const model = await OrientationModel.load({ ...plan.options, source: { path: plan.file }, threads: 1, observer });
  equal(model.provider, plan.options.providers[0], 'what started');
  const expected = await values(model);
  const { outcome } = model.serving.latest;
  const { backend, opened } = outcome;
  outcome.backend = {
    ...backend,
    run: (session, ...given) => {
      if (session === opened.session) return Promise.reject(new Error('[runtime] the device is gone'));
      return backend.run(session, ...given);
    },
  };
  for (let run = 0; run < 3; run += 1) {
    const inputs = page();
    const running = values(model, inputs);
    inputs[INPUT].data.fill(9);
    equal(await running, expected, 'what the CPU computes of the inputs of the call');
  }
  equal(model.provider, 'cpu', 'it stays there');
  equal(model.fallbacks, [{ provider: plan.options.providers[0], reason: 'the device is gone' }], 'and says why');
  equal(await values(model), expected, 'the same model');
  const [provider] = plan.options.providers;
  const retried = [[provider, 'runtime', false], ['cpu', null, true]];
  equal(told, [[provider, null, false], ...retried, ...retried, ...retried, ['cpu', null, false]], 'what an observer hears');
  model.dispose();
}
