import type { Attempt } from './attempt.js';
import type { Backend, Opened } from './backend.js';
import { type ModelDescriptor, type ModelFile, type Provider, type Settings } from './descriptor.js';
import type { Fallback } from './observer.js';
import type { LoadOptions, ProviderAssignment } from './options.js';
/** A model that has started. */
export interface OpenModel {
    readonly opened: Opened;
    readonly file: ModelFile;
    readonly provider: Provider;
    /** Settings of the provider. */
    readonly settings: Settings;
    /** Nodes that each provider runs; undefined where ONNX Runtime cannot say. */
    readonly assignment: readonly ProviderAssignment[] | undefined;
    /** Paths of the files that were opened; empty for those in memory. */
    readonly paths: readonly string[];
}
/** The provider that has started in the end, and those that did not. */
export interface Outcome extends Attempt, OpenModel {
    readonly fallbacks: readonly Fallback[];
}
/**
 * Tries the files of each provider in turn, a session each, and the CPU last.
 *
 * @throws ModelError
 */
export declare function openModel(model: ModelDescriptor, backend: Backend, options: LoadOptions): Promise<Outcome>;
