import type { ProviderFacts } from './providerFacts.js';
/** Execution providers of ONNX Runtime. `cpu` runs every model, so it is tried last. */
export type Provider = 'qnn' | 'nnapi' | 'xnnpack' | 'webgpu' | 'webnn' | 'coreml' | 'cpu';
/** How each is started. */
export declare const PROVIDERS: Readonly<Record<Provider, ProviderFacts>>;
