// Puts what a browser fetches into public/: the packages' models and ONNX Runtime.

import { cp, mkdir, readdir } from 'node:fs/promises';
import path from 'node:path';

const PACKAGES = ['react-native-vision', 'react-native-notes'];
const RUNTIME = 'node_modules/onnxruntime-web/dist';

for (const name of ['ort.wasm.bundle.min.mjs', 'ort-wasm-simd-threaded.wasm']) {
  await cp(path.join(RUNTIME, name), path.join('public/onnxruntime', name));
}
await mkdir('public/models', { recursive: true });
for (const name of PACKAGES) {
  const models = path.join('node_modules', name, 'models');
  for (const entry of await readdir(models, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) await cp(path.join(entry.parentPath, entry.name), path.join('public/models', entry.name));
  }
}
