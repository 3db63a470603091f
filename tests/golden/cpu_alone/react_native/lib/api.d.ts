export { Classifier, useClassifier } from './models/classifier.js';
export type { ClassifierInputs, ClassifierOutputs, ClassifierTensors, } from './models/classifier.js';
export type { Provider, Settings, TensorSpec } from './runtime/descriptor.js';
export { ModelError, type ModelErrorCode } from './runtime/errors.js';
export type { Frames, FrameSource } from './runtime/frames.js';
export type { HookOptions, ModelState } from './runtime/hook.js';
export { allocate } from './runtime/memory.js';
export { ModelMetrics, type Durations, type ModelSnapshot } from './runtime/metrics.js';
export type { ModelDefinition } from './runtime/loading.js';
export type { AnyModel, ModelWorklet } from './runtime/model.js';
export type { Verify } from './runtime/backend.js';
export type { AsyncRunOptions, Info, LoadOptions, Progress, ProviderAssignment, RunOptions, Source, } from './runtime/options.js';
export type { BanEvent, Fallback, FailureEvent, LoadEvent, ModelObserver, ReleaseEvent, RunEvent, SourceKind, } from './runtime/observer.js';
export type { Policies } from './runtime/policies.js';
export type { OutputTest, SelfTest } from './runtime/selftest.js';
export type { DataOf, ElementType, Input, NumberType, Shape, Shaped, Target, Targets, Tensor } from './runtime/tensor.js';
export type { PlainModel } from './runtime/plainModel.js';
/**
 * Removes downloaded files that the models of this version of the package do not use: call it after an update of the
 * app. Models that are open stay open, and keep their files.
 */
export declare function removeOldDownloads(): Promise<void>;
/** Removes all downloaded files of this package but those of models that are open. */
export declare function removeDownloads(): Promise<void>;
