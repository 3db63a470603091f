import type { ChannelConditions } from './listed.js';
import type { UpdatePlatform } from './platform.js';
import type { UpdateOptions } from './states.js';
/** How long to wait after so many failures, one after the other: random, so that not all devices come back at once. */
export declare function pauseMs(failures: number, random?: () => number): number;
/** Why a download has to wait; empty when it need not. */
export declare function reasonToWait(wanted: ChannelConditions, { conditions }: UpdateOptions, platform: UpdatePlatform): Promise<string>;
