import type { Delivery } from './runtime/updating/delivery.js';
/** The channel that delivers the models of vision-web. */
export declare const DELIVERY: Delivery;
