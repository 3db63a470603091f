import type { Trust } from './runtime/trust.js';
/** Keys that sign the releases of vision-web, and which release this is. */
export declare const TRUST: Trust;
