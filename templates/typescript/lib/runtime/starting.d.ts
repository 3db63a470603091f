import type { Attempt } from './attempt.js';
import { type ModelFile, type Provider, type Settings } from './descriptor.js';
/** How a provider is started. */
export interface Start {
    /** ONNX Runtime's name of the provider; empty for the CPU. */
    readonly registeredName: string;
    readonly options: Settings;
}
/** @throws ModelError `runtime` when the provider must not run the file on this device */
export declare function startOf(provider: Provider, file: ModelFile, attempt: Attempt): Promise<Start>;
