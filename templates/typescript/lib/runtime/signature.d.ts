import type { Opened } from './backend.js';
import type { ModelDescriptor } from './descriptor.js';
/** @throws ModelError `bad-model`, saying what the model has and what the file has */
export declare function checkSignature(model: ModelDescriptor, opened: Opened): void;
