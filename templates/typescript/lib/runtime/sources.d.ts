import type { Backend } from './backend.js';
import { type ModelDescriptor } from './descriptor.js';
import type { LoadOptions, ModelSource } from './options.js';
/**
 * The files of `model`, from where `options.source` says.
 *
 * @throws ModelError `bad-options` for a source that is none, `unsupported`, `cancelled`
 */
export declare function sourceOf(model: ModelDescriptor, backend: Backend, options: LoadOptions): Promise<ModelSource>;
/** Makes `removeDownloads` leave the files with these paths, until the function that this returns is called. */
export declare function keepFiles(paths: readonly string[]): () => void;
/** Names of the files of models that are open. */
export declare function namesInUse(): readonly string[];
/**
 * Removes downloaded files but those of `keep`, those that are on their way, and those of models that are open.
 *
 * @throws ModelError `unreadable`
 */
export declare function removeDownloads(backend: Backend, keep: readonly ModelDescriptor[]): Promise<void>;
