import type { PlatformSetup } from './runtime/descriptor.js';
/** What models run on with the web. */
export declare const web: PlatformSetup;
