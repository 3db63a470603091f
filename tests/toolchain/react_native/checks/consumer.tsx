// An app that uses what `react-native-page-orientation` gives: it must compile as it stands.
import { useCallback, type ReactElement } from 'react';
import { Button, Text, View } from 'react-native';

import {
  ModelError,
  OrientationModel,
  removeDownloads,
  removeOldDownloads,
  useOrientationModel,
  type Fallback,
  type LoadOptions,
  type ModelErrorCode,
  type OrientationModelInputs,
  type OrientationModelOutputs,
  type Progress,
  type SelfTest,
} from 'react-native-page-orientation';
import { setOnnxRuntime } from 'react-native-page-orientation/onnxruntime';

/** Sizes that the model fixes are constants of the types, and others are numbers. */
const sizes: readonly [null, 3, 224, 224] = OrientationModel.inputs.x.shape;

export async function angleOf(pixels: Float32Array, signal: AbortSignal): Promise<number> {
  const options: LoadOptions = { signal, threads: 1, providers: ['xnnpack', 'cpu'], onProgress: told };
  const model: OrientationModel = await OrientationModel.load(options);
  try {
    const inputs: OrientationModelInputs = { x: { data: pixels, shape: [1, 3, 224, 224] } };
    const outputs: OrientationModelOutputs = await model.run(inputs, { signal });
    const scores: Float32Array = outputs.fetchName0.data;
    const four: 4 = outputs.fetchName0.shape[1];
    return scores.indexOf(Math.max(...scores)) * (360 / four);
  } finally {
    model.dispose();
  }
}

export function again(model: OrientationModel, pixels: Float32Array): string {
  const into = new Float32Array(4);
  model.runSync({ x: pixels }, { into: { fetchName0: { data: into, shape: [1, 4] } } });
  const reasons = model.fallbacks.map((each: Fallback) => `${each.provider}: ${each.reason}`);
  return [model.provider, model.info.onnxRuntimeVersion, String(sizes.length), ...reasons, into.join(' ')].join('\n');
}

export async function tested(model: OrientationModel): Promise<string> {
  const result: SelfTest = await model.selfTest();
  return String(result);
}

export async function cleared(all: boolean): Promise<ModelErrorCode | null> {
  try {
    await (all ? removeDownloads() : removeOldDownloads());
  } catch (error) {
    if (error instanceof ModelError) return error.code;
    throw error;
  }
  return null;
}

export function Page({ pixels }: { readonly pixels: Float32Array }): ReactElement {
  const { state, model, error, progress } = useOrientationModel({ source: { url: 'https://models.example.com/' } });
  const turn = useCallback(() => {
    if (model) again(model, pixels);
  }, [model, pixels]);
  if (state === 'error') return <Text>{error.code}</Text>;
  return (
    <View>
      <Text>{progress ? told(progress) : ''}</Text>
      <Button title="Turn" onPress={turn} disabled={state === 'loading'} />
    </View>
  );
}

function told({ loadedBytes, totalBytes }: Progress): string {
  return `${String(loadedBytes)} of ${String(totalBytes)}`;
}

export const onTheWeb: (ort: Parameters<typeof setOnnxRuntime>[0]) => void = (ort) => {
  setOnnxRuntime(ort, { models: '/models/' });
};
