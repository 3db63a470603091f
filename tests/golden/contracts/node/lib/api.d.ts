export { Classifier } from './models/classifier.js';
export type { ClassifierInputs, ClassifierOutputs, ClassifierTensors, } from './models/classifier.js';
export { ListenerModel } from './models/listener.js';
export type { ListenerModelInputs, ListenerModelOutputs, ListenerModelTensors, } from './models/listener.js';
export { Several } from './models/several.js';
export type { SeveralInputs, SeveralOutputs, SeveralPrediction, SeveralTensors, } from './models/several.js';
export type { Provider, Settings, TensorSpec } from './runtime/descriptor.js';
export { ModelError, type ModelErrorCode } from './runtime/errors.js';
export type { Frames, FrameSource } from './runtime/frames.js';
export { allocate } from './runtime/memory.js';
export { ModelMetrics, type Durations, type ModelSnapshot } from './runtime/metrics.js';
export type { ModelDefinition } from './runtime/loading.js';
export type { AnyModel, ModelWorklet } from './runtime/model.js';
export type { Verify } from './runtime/backend.js';
export type { AsyncRunOptions, Info, LoadOptions, Progress, ProviderAssignment, ProviderProof, RunOptions, Source, } from './runtime/options.js';
export type { BanEvent, Fallback, FailureEvent, LoadEvent, ModelObserver, ReleaseEvent, RunEvent, SourceKind, } from './runtime/observer.js';
export { Proof, type ProofOptions } from './runtime/proving/proof.js';
export type { Policies } from './runtime/policies.js';
export type { OutputTest, SelfTest } from './runtime/selftest.js';
export type { DataOf, ElementType, Input, NumberType, Shape, Shaped, Target, Targets, Tensor } from './runtime/tensor.js';
export type { PlainModel } from './runtime/plainModel.js';
export { Similarity } from './runtime/typed/similarity.js';
export { toWav } from './runtime/typed/sound.js';
export type { Box, Detection } from './runtime/typed/boxes.js';
export type { Classification } from './runtime/typed/classes.js';
export type { PictureOptions } from './runtime/typed/decoding.js';
export type { Instance, InstanceMask } from './runtime/typed/instances.js';
export type { Keypoint } from './runtime/typed/keypoints.js';
export type { CallOptions, ClassifyOptions, ClassifySyncOptions } from './runtime/typed/options.js';
export type { Picture, PictureOrientation, PixelFormat, YuvConversion } from './runtime/typed/picture.js';
export type { Region } from './runtime/typed/planes.js';
export type { Ranked } from './runtime/typed/ranking.js';
export type { RgbaPicture } from './runtime/typed/rgba.js';
export type { Sound } from './runtime/typed/sound.js';
export type { Heard, SoundStream, StreamOptions, StreamResults } from './runtime/typed/stream.js';
export type { NamedValues } from './runtime/typed/values.js';
/**
 * Removes downloaded files that the models of this version of the package do not use: call it after an update of the
 * app. Models that are open stay open, and keep their files.
 */
export declare function removeOldDownloads(): Promise<void>;
/** Removes all downloaded files of this package but those of models that are open. */
export declare function removeDownloads(): Promise<void>;
