// The native part of a package, in an app.
import { ModelError } from './errors.js';
/** @throws ModelError `not-linked` when the app was built without the native part, `unsupported` on other systems */
export function makeNativeBackend(parts) {
    const engine = linked(parts, parts.engine);
    if (parts.os === 'android')
        return androidBackend(parts, engine, linked(parts, parts.android));
    if (parts.os === 'ios')
        return iosBackend(parts, engine);
    throw new ModelError('unsupported', `${parts.packageName} has models for Android and iOS, this is ${parts.os}`);
}
function linked({ packageName }, part) {
    if (part !== null)
        return part;
    throw new ModelError('not-linked', `the native part of ${packageName} is not in this app: build the app again after the package was added (on iOS ` +
        'run pod install first; Expo Go has no native code of other packages: use a development build)');
}
function androidBackend(parts, engine, files) {
    const { chip, apiLevel, folder } = files.device();
    return {
        ...backendOf(parts, 'android', { chip, apiLevel }, engine, (path, size) => files.locate(`${parts.assetFolder}/${path}`, size)),
        about: () => ({ ...engine.about(), cache: folder }),
        isHot: () => files.isHot(),
    };
}
function iosBackend(parts, engine) {
    const { bundle } = engine.about();
    return backendOf(parts, 'ios', { chip: '', apiLevel: 0 }, engine, (path) => Promise.resolve({ path: `${bundle}/${path}`, offset: 0 }));
}
/** An app that is inactive may be left without another word, as from the list of all apps. */
export function isAway(state) {
    return state === 'background' || state === 'inactive';
}
function presenceOf(app) {
    return {
        isAway: () => isAway(app.currentState),
        onChange: (listener) => {
            const subscription = app.addEventListener('change', (state) => {
                listener(isAway(state));
            });
            return () => {
                subscription.remove();
            };
        },
    };
}
/** Methods are called on their object: that of a TurboModule is not one whose properties can be copied. */
function backendOf({ onMemoryPressure, system, app }, platform, device, engine, locate) {
    return {
        platform,
        device,
        system,
        presence: presenceOf(app),
        kept: null,
        locate,
        onMemoryPressure,
        about: () => engine.about(),
        probe: (provider) => engine.hasProvider?.(provider) === false
            ? Promise.reject(new ModelError('runtime', `the ONNX Runtime in this app was built without ${provider}`))
            : Promise.resolve(),
        open: (request, model) => engine.open(request, model),
        close: (session) => {
            engine.close(session);
        },
        run: (session, call, buffers, layout, texts, isTimed) => engine.run(session, call, buffers, layout, texts, isTimed),
        runSync: (session, buffers, layout, texts) => engine.runSync(session, buffers, layout, texts),
        profile: (session, prefix, runs, buffers, layout, texts) => engine.profile(session, prefix, runs, buffers, layout, texts),
        worklet: (session, inputs, outputs) => engine.worklet(session, inputs, outputs),
        residentBytes: () => engine.residentBytes(),
        isHot: () => engine.isHot(),
        cancel: (call) => {
            engine.cancel(call);
        },
        allocate: (sizeBytes) => engine.allocate(sizeBytes),
        isNative: (buffer) => engine.isNative?.(buffer) ?? false,
        take: (kept, output, into) => {
            engine.take(kept, output, into);
        },
        drop: (kept) => {
            engine.drop(kept);
        },
        fileSize: (path) => engine.fileSize(path),
        readFile: (path, offset, into, sha256) => engine.readFile(path, offset, into, sha256),
        writePart: (path, offset, bytes) => engine.writePart(path, offset, bytes),
        finishPart: (part, path, size, sha256) => engine.finishPart(part, path, size, sha256),
        removeFile: (path) => engine.removeFile(path),
        makeFolder: (path, keep) => engine.makeFolder(path, keep),
    };
}
