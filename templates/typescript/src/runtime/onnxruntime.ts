// Runs models with ONNX Runtime's JavaScript API: onnxruntime-web in a browser, onnxruntime-node in tests.

import { chooseBackend } from './backend.js';
import type { OnnxRuntime } from './onnxruntimeApi.js';
import { OnnxRuntimeBackend } from './onnxruntimeBackend.js';
import type { OnnxRuntimeOptions } from './onnxruntimeFiles.js';

export type { OnnxRuntime } from './onnxruntimeApi.js';
export type { OnnxRuntimeOptions } from './onnxruntimeFiles.js';

/**
 * Runs the models that are loaded from now on with `ort`, which is `onnxruntime-web` or `onnxruntime-node`.
 *
 * ```ts
 * import * as ort from 'onnxruntime-web';
 * setOnnxRuntime(ort, { models: '/models/' });
 * ```
 */
export function setOnnxRuntime(ort: OnnxRuntime, options: OnnxRuntimeOptions = {}): void {
  chooseBackend(() => new OnnxRuntimeBackend(ort, options));
}
