// Loads models of a package.
import { currentBackend } from './backend.js';
import { observeLoad } from './observing.js';
import { openModel } from './opening.js';
import { checkOptions } from './permitting.js';
import { PlainModel } from './plainModel.js';
/** Loads a model on what runs models here. */
export async function loadModel(descriptor, options = {}) {
    return loadAs(PlainModel, descriptor, options);
}
/** Loads a model as an object of a class of its own. */
export async function loadAs(Loaded, descriptor, options = {}) {
    checkOptions(options);
    const backend = currentBackend();
    const loading = open(Loaded, descriptor, backend, options);
    const { observer } = options;
    return observer === undefined ? loading : observeLoad(observer, descriptor.name, loading, options, backend);
}
async function open(Loaded, descriptor, backend, options) {
    const outcome = await openModel(descriptor, backend, options);
    try {
        return new Loaded(outcome);
    }
    catch (error) {
        outcome.backend.close(outcome.opened.session);
        throw error;
    }
}
