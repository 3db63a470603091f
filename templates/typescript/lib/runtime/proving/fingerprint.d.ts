import type { Attempt } from '../attempt.js';
import type { Provider } from '../descriptor.js';
/**
 * A short hash of all that a verdict holds for: the installed app, the system and the graphics processor as far as they are
 * known, ONNX Runtime, the package, and the options of sessions. It names nobody and no device.
 */
export declare function fingerprintOf(provider: Provider, { model, backend, about, options }: Attempt): Promise<string>;
