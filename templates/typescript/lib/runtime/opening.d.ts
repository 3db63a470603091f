import type { Attempt } from './attempt.js';
import type { Backend, Opened } from './backend.js';
import { type ModelDescriptor, type ModelFile, type Provider, type Settings } from './descriptor.js';
import { ModelError } from './errors.js';
import type { Fallback } from './observer.js';
import type { LoadOptions, ProviderAssignment, ProviderProof, Proving } from './options.js';
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
    /** Verdicts of a load with the option `proof`. */
    readonly proofs: readonly ProviderProof[];
}
/** The option `proof` with what it does: apps without it have none of that code. */
export interface Prover extends Proving {
    open(attempt: Attempt): Promise<Outcome>;
}
export declare const NO_FILE = "the package has no file of the model for it";
/**
 * Tries the files of each provider in turn, a session each, and the CPU last.
 *
 * @throws ModelError
 */
export declare function openModel(model: ModelDescriptor, backend: Backend, options: LoadOptions): Promise<Outcome>;
/** Opens the model on the first of `providers` that starts. */
export declare function openFirst(attempt: Attempt, ...providers: readonly Provider[]): Promise<Outcome>;
/** In the order in which they are tried, the CPU last. */
export declare function providersOf({ model, backend, options }: Attempt): ReadonlySet<Provider>;
/** First the files that were made for this device's chip, then those for any. */
export declare function filesFor(provider: Provider, { backend, source }: Attempt): readonly ModelFile[];
/** The error when ONNX Runtime cannot start it. Whatever else goes wrong is thrown: it ends the search. */
export declare function tryToOpen(provider: Provider, file: ModelFile, attempt: Attempt): Promise<OpenModel | ModelError>;
