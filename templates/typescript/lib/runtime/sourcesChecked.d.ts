import type { Platform } from './backend.js';
import type { Source } from './options.js';
/**
 * Checks what an app says a model comes from.
 *
 * @throws ModelError `bad-options`; `unsupported` for files where there are none
 */
export declare function checkSource(source: unknown, platform: Platform): asserts source is Source;
