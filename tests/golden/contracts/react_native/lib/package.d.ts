import type { PlatformSetup } from './runtime/descriptor.js';
/** Setup that models run on with Android. */
export declare const android: PlatformSetup;
/** Setup that models run on with iOS. */
export declare const ios: PlatformSetup;
