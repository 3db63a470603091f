export * from './api.js';
export * from './updates.js';
