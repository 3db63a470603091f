export * from './api.js';
export { setUp } from './site.js';
export type { PageOptions } from './web/site.js';
