// What runs models: native code in an app, ONNX Runtime's JavaScript API in a browser and in tests.
import { ModelError } from './errors.js';
/** `inner` with some methods of `own` in the place of its own. */
export function replaced(inner, own) {
    return new Proxy(inner, {
        get: (target, name) => {
            const other = Reflect.get(own, name);
            if (other !== undefined)
                return other;
            const value = Reflect.get(target, name);
            return typeof value === 'function' ? value.bind(target) : value;
        },
    });
}
let made;
let makeDefault;
let makeChosen;
/** Says what runs models unless something else is chosen. It is made when the first model is loaded. */
export function provideBackend(make) {
    makeDefault = make;
    if (makeChosen === undefined)
        made = undefined;
}
/** Chooses what runs the models that are loaded from now on. */
export function chooseBackend(make) {
    makeChosen = make;
    made = undefined;
}
/**
 * The engine that runs models.
 *
 * @throws ModelError `unsupported` where nothing was provided or chosen, and what making it throws
 */
export function currentBackend() {
    if (made !== undefined)
        return made;
    const make = makeChosen ?? makeDefault;
    if (make === undefined) {
        throw new ModelError('unsupported', 'nothing here runs models: hand onnxruntime-web, or under Node onnxruntime-node, to setOnnxRuntime() of this ' +
            "package's /onnxruntime first");
    }
    made = make();
    return made;
}
