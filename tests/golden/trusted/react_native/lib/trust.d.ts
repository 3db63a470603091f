import type { Trust } from './runtime/trust.js';
/** Says what verifies signatures in an app. */
export declare function provideVerifier(isSigned: Trust['isSigned']): void;
/** Keys that sign its releases, and which release this is. */
export declare const TRUST: Trust;
