import type { PlatformSetup } from './runtime/descriptor.js';
/** Setup that models run on with Node. */
export declare const node: PlatformSetup;
