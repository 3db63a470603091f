// Runs models with ONNX Runtime's JavaScript API: onnxruntime-web in a browser, onnxruntime-node in tests.
import { chooseBackend } from './backend.js';
import { OnnxRuntimeBackend } from './onnxruntimeBackend.js';
/**
 * Runs the models that are loaded from now on with `ort`, which is `onnxruntime-web` or `onnxruntime-node`.
 *
 * ```ts
 * import * as ort from 'onnxruntime-web';
 * setOnnxRuntime(ort, { models: '/models/' });
 * ```
 */
export function setOnnxRuntime(ort, options = {}) {
    chooseBackend(() => new OnnxRuntimeBackend(ort, options));
}
