import type { OnnxRuntime } from '../runtime/onnxruntimeApi.js';
/** The part of onnxruntime-node that runs models. */
export declare const THREADED: OnnxRuntime;
