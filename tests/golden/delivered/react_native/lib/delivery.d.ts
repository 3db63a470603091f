import type { Backend } from './runtime/backend.js';
import type { Delivery } from './runtime/updating/delivery.js';
import type { UpdatePlatform } from './runtime/updating/platform.js';
/** Says what opens the folder of a channel in an app. */
export declare function provideFolder(open: (channel: string, backend: Backend) => UpdatePlatform): void;
/** The channel, as the package was built for it. */
export declare const DELIVERY: Delivery;
