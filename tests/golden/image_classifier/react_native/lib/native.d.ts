import type { Backend } from './runtime/backend.js';
/** Native code, looked at when the first model is loaded. */
export declare function nativeBackend(): Backend;
