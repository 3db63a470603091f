import type { ModelDescriptor } from './descriptor.js';
import { type Observed } from './observing.js';
import { type Outcome } from './opening.js';
import type { LoadOptions } from './options.js';
import { PlainModel } from './plainModel.js';
/** A model of this package, before it is loaded. */
export interface ModelDefinition<Loaded> {
    /** The files that the package has of it, their sizes and checksums. */
    readonly descriptor: ModelDescriptor;
    /**
     * Loads the model, away from the JavaScript thread.
     *
     * @throws ModelError: a file is missing or not the right one, no provider can run the model, the app has another ONNX
     * Runtime, a download fails, or `options.signal` was aborted
     */
    readonly load: (options?: LoadOptions) => Promise<Loaded>;
}
/** Loads a model on what runs models here. */
export declare function loadModel<Inputs extends object, Outputs extends object>(descriptor: ModelDescriptor, options?: LoadOptions): Promise<PlainModel<Inputs, Outputs>>;
/** Loads a model as an object of a class of its own. */
export declare function loadAs<Loaded extends Observed>(Loaded: new (outcome: Outcome) => Loaded, descriptor: ModelDescriptor, options?: LoadOptions): Promise<Loaded>;
