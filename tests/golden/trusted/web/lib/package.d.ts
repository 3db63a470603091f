import type { PlatformSetup } from './runtime/descriptor.js';
/** Setup that models run on with the web. */
export declare const web: PlatformSetup;
