import type { About, Backend } from './backend.js';
import type { ModelDescriptor } from './descriptor.js';
import type { LoadOptions, ModelSource } from './options.js';
/** A model to open: the backend, the app's options and where its files are. */
export interface Attempt {
    readonly model: ModelDescriptor;
    readonly backend: Backend;
    readonly about: About;
    readonly options: LoadOptions;
    readonly source: ModelSource;
}
