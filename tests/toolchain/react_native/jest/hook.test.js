// The hook of a package in components, on React Native's own preset for jest and on a real ONNX Runtime.
import { Activity, StrictMode } from 'react';
import { Text } from 'react-native';
import { act, configure, render, screen, waitFor } from '@testing-library/react-native';
import * as ort from 'onnxruntime-node';
import { readFile } from 'node:fs/promises';
import { OrientationModel, useOrientationModel } from 'react-native-page-orientation';
import { setOnnxRuntime } from 'react-native-page-orientation/onnxruntime';

import { useLoaded } from './node_modules/react-native-page-orientation/lib/runtime/hook.js';

const { folders, pixels, expected } = require('./given.json');
const input = Float32Array.from(pixels);
configure({ asyncUtilTimeout: 60_000 });

/** How long a model without users is kept. */
const GRACE_MS = 1000;
/** Sessions that are open. */
const open = new Set();
/** What a test wants to do to the files. */
let fileRead = (bytes) => bytes;
let reads = [];

const counted = {
  ...ort,
  InferenceSession: {
    create: async (...parameters) => {
      const session = await ort.InferenceSession.create(...parameters);
      open.add(session);
      const release = session.release.bind(session);
      session.release = async () => {
        open.delete(session);
        await release();
      };
      return session;
    },
  },
};

async function read(name) {
  reads.push(name);
  for (const folder of folders) {
    const bytes = await readFile(`${folder}/${name}`).catch(() => null);
    if (bytes !== null) return fileRead(bytes);
  }
  throw new Error(`no folder has ${name}`);
}

/** Every state that a component was drawn with. */
let drawn = [];

function Orient({ options }) {
  const found = useOrientationModel(options);
  drawn.push(found);
  return <Text>{found.state === 'error' ? `error ${found.error.code}` : found.state}</Text>;
}

const ready = () => waitFor(() => screen.getByText('ready'), { timeout: 60_000 });
const nothingOpen = () => waitFor(() => expect(open.size).toBe(0));
const lastModel = () => drawn.at(-1).model;

let complaints;

beforeEach(() => {
  drawn = [];
  reads = [];
  fileRead = (bytes) => bytes;
  setOnnxRuntime(counted, { read });
  complaints = jest.spyOn(console, 'error');
});

afterEach(async () => {
  await nothingOpen();
  expect(complaints.mock.calls).toEqual([]);
});

async function expectRight(model) {
  const { fetchName0 } = await model.run({ x: input });
  expect(fetchName0.shape).toEqual([1, 4]);
  expected.forEach((value, index) => expect(fetchName0.data[index]).toBeCloseTo(value, 5));
}

test('a component gets a model that computes what Python computes', async () => {
  const view = await render(<Orient />);
  expect(drawn[0]).toEqual({ state: 'loading', model: null, error: null, progress: null });
  await ready();
  await expectRight(lastModel());
  expect(await lastModel().selfTest()).toMatchObject({ passed: true });
  await view.unmount();
});

test('an unmounted component has disposed of its model', async () => {
  const view = await render(<Orient />);
  await ready();
  const model = lastModel();
  await view.unmount();
  await nothingOpen();
  await expect(model.run({ x: input })).rejects.toMatchObject({ name: 'ModelError', code: 'disposed' });
});

test('a run that is under way when its component goes still ends', async () => {
  const view = await render(<Orient />);
  await ready();
  const running = lastModel().run({ x: input });
  await view.unmount();
  expect((await running).fetchName0.shape).toEqual([1, 4]);
});

test('a component that goes before its model is there leaves nothing behind', async () => {
  const view = await render(<Orient />);
  await waitFor(() => expect(reads.length).toBeGreaterThan(0));
  await view.unmount();
  const count = drawn.length;
  await act(() => new Promise((resolve) => setTimeout(resolve, 500)));
  expect(drawn.length).toBe(count);
  expect(drawn.every(({ state }) => state === 'loading')).toBe(true);
});

test('a model that comes when its component is gone is disposed of', async () => {
  let finish;
  const dispose = jest.fn();
  const loading = new Promise((resolve) => {
    finish = resolve;
  });
  const load = () => loading;
  const Late = () => <Text>{useLoaded(load).state}</Text>;
  const view = await render(<Late />);
  await view.unmount();
  finish({ dispose });
  await act(() => loading);
  await waitFor(() => expect(dispose).toHaveBeenCalledTimes(1));
});

test('strict mode has one model in the end', async () => {
  const view = await render(<StrictMode><Orient /></StrictMode>);
  await ready();
  await waitFor(() => expect(open.size).toBe(1));
  await expectRight(lastModel());
  await view.unmount();
});

test('components with the same options share one model, and the last to go disposes of it', async () => {
  const view = await render(<><Orient /><Orient options={{}} /></>);
  await waitFor(() => expect(screen.getAllByText('ready').length).toBe(2));
  const [one, other] = drawn.slice(-2).map(({ model }) => model);
  expect(other).toBe(one);
  expect(open.size).toBe(1);
  await view.rerender(<><Orient /></>);
  await act(() => new Promise((resolve) => setTimeout(resolve, 1500)));
  await expectRight(one);
  await view.unmount();
});

test('a component that comes right after the last one went finds the model there', async () => {
  const first = await render(<Orient />);
  await ready();
  const model = lastModel();
  const usual = globalThis.setTimeout;
  // The second in which a model is kept does not pass: on a busy machine it may take one to draw.
  globalThis.setTimeout = (done, ms, ...given) => (ms === GRACE_MS ? {} : usual(done, ms, ...given));
  await first.unmount();
  const second = await render(<Orient />);
  await ready();
  globalThis.setTimeout = usual;
  expect(lastModel()).toBe(model);
  expect(reads.filter((name) => name.endsWith('.ort.tflite')).length).toBe(1);
  await second.unmount();
});

test('one that fails for several fails for all, and is tried again by the next', async () => {
  fileRead = () => {
    throw new Error('gone');
  };
  const view = await render(<><Orient /><Orient /></>);
  await waitFor(() => expect(screen.getAllByText('error missing').length).toBe(2));
  fileRead = (bytes) => bytes;
  await view.rerender(<><Orient /><Orient /><Orient key="next" /></>);
  await ready();
  const model = lastModel();
  await view.rerender(<><Orient key="next" /></>);
  await act(() => new Promise((resolve) => setTimeout(resolve, 1500)));
  await view.rerender(<><Orient key="next" /><Orient key="another" /></>);
  await waitFor(() => expect(screen.getAllByText('ready').length).toBe(2));
  expect(lastModel()).toBe(model); // those that failed have not taken the others' place with them
  expect(open.size).toBe(1);
  await view.unmount();
});

test('options of the same content are the same options', async () => {
  const view = await render(<Orient options={{ providers: ['cpu'], threads: 1, providerOptions: { qnn: {}, coreml: {} } }} />);
  await ready();
  const model = lastModel();
  await view.rerender(<Orient options={{ providerOptions: { coreml: {}, qnn: {} }, threads: 1, providers: ['cpu'], source: undefined }} />);
  expect(lastModel()).toBe(model);
  expect(open.size).toBe(1);
  await view.unmount();
});

test('other options load the model anew, and nobody sees the old one meanwhile', async () => {
  const view = await render(<Orient options={{ threads: 1 }} />);
  await ready();
  const model = lastModel();
  const count = drawn.length;
  await view.rerender(<Orient options={{ threads: 2 }} />);
  await ready();
  expect(drawn.slice(count).some((found) => found.model === model)).toBe(false);
  expect(lastModel()).not.toBe(model);
  await waitFor(() => expect(open.size).toBe(1));
  await view.unmount();
});

test('the same memory is the same source, other memory is another', async () => {
  const { path } = OrientationModel.descriptor.platforms.ios.files.find(({ weights }) => weights.length === 0);
  const bytes = await read(path);
  const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
  const view = await render(<Orient options={{ source: { buffer } }} />);
  await ready();
  const model = lastModel();
  await expectRight(model);
  await view.rerender(<Orient options={{ source: { buffer: new Uint8Array(buffer).buffer } }} />);
  expect(lastModel()).toBe(model);
  await view.rerender(<Orient options={{ source: { buffer: buffer.slice(0) } }} />);
  await ready();
  expect(lastModel()).not.toBe(model);
  await view.unmount();
});

test('a component that is hidden disposes of its model, and gets another when it is shown', async () => {
  const page = (mode) => <Activity mode={mode}><Orient /></Activity>;
  const view = await render(page('visible'));
  await ready();
  const model = lastModel();
  await view.rerender(page('hidden'));
  await nothingOpen();
  const count = drawn.length;
  await view.rerender(page('visible'));
  await waitFor(() => expect(drawn.at(-1).state).toBe('ready'));
  expect(drawn.slice(count).some((found) => found.model === model)).toBe(false);
  await expectRight(lastModel());
  await view.unmount();
});

test('a file that was tampered with is an error, and other options recover', async () => {
  fileRead = (bytes) => {
    bytes[bytes.length >> 1] ^= 1;
    return bytes;
  };
  const view = await render(<Orient />);
  await waitFor(() => screen.getByText('error corrupted'));
  expect(drawn.at(-1).error.message).toMatch(/sha256/);
  fileRead = (bytes) => bytes;
  await view.rerender(<Orient options={{ threads: 1 }} />);
  await ready();
  await view.unmount();
});

test('a missing file and a bad option are errors', async () => {
  fileRead = () => {
    throw new Error('gone');
  };
  const view = await render(<Orient />);
  await waitFor(() => screen.getByText('error missing'));
  await view.rerender(<Orient options={{ source: { url: 'http://127.0.0.1/' } }} />);
  await waitFor(() => screen.getByText('error bad-options'));
  await view.unmount();
});

test('runs cannot be made at once here, and say so', async () => {
  const view = await render(<Orient />);
  await ready();
  expect(() => lastModel().runSync({ x: input })).toThrow(expect.objectContaining({ code: 'unsupported' }));
  await view.unmount();
});

test('an observer that is made anew each time does not load the model anew, and hears of it', async () => {
  const heard = [];
  const observed = () => ({ observer: { onLoad: () => heard.push('load'), onRelease: () => heard.push('release') } });
  const view = await render(<Orient options={observed()} />);
  await ready();
  await view.rerender(<Orient options={observed()} />);
  await ready();
  expect(open.size).toBe(1);
  await expectRight(lastModel());
  await view.unmount();
  await nothingOpen();
  expect(heard).toEqual(['load', 'release']);
});

test('components share a model with those that have the same observer', async () => {
  const [mine, yours] = [{ observer: { onLoad: () => undefined } }, { observer: { onLoad: () => undefined } }];
  const view = await render(
    <>
      <Orient options={mine} />
      <Orient options={{ ...mine }} />
      <Orient options={yours} />
    </>,
  );
  await waitFor(() => expect(screen.getAllByText('ready')).toHaveLength(3));
  expect(open.size).toBe(2);
  await view.unmount();
});
