// In a browser onnxruntime-web runs the models. It loads files by their addresses, which Metro cannot bundle, so that
// `web.mjs` puts it and the models into public/.

import type * as OnnxRuntime from 'onnxruntime-web/wasm';
import * as notes from 'react-native-notes/onnxruntime';
import * as vision from 'react-native-vision/onnxruntime';

const FOLDER = '/onnxruntime/';

/** Makes models run. */
export async function prepareRuntime(): Promise<void> {
  const address = `${FOLDER}ort.wasm.bundle.min.mjs`;
  const ort = (await import(/* webpackIgnore: true */ address)) as typeof OnnxRuntime;
  ort.env.wasm.numThreads = 1;
  ort.env.wasm.wasmPaths = { wasm: `${FOLDER}ort-wasm-simd-threaded.wasm` };
  for (const { setOnnxRuntime } of [notes, vision]) setOnnxRuntime(ort, { models: '/models/' });
}
