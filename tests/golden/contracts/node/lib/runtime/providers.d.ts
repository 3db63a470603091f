import type { ProviderFacts } from './providerFacts.js';
/** Execution providers of ONNX Runtime. `cpu` runs every model, so it is tried last. */
export type Provider = 'cuda' | 'dml' | 'webgpu' | 'coreml' | 'cpu';
/** How each is started. */
export declare const PROVIDERS: Readonly<Record<Provider, ProviderFacts>>;
