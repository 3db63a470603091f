import type { PlatformSetup } from './runtime/descriptor.js';
/** What models run on with Android. */
export declare const android: PlatformSetup;
/** What models run on with iOS. */
export declare const ios: PlatformSetup;
