// Tells an observer what models do.
import { toModelError } from './errors.js';
/** Seconds since some moment. */
export function now() {
    const { performance: clock = Date } = globalThis;
    return clock.now() / 1000;
}
/** Tells an observer something, whatever comes of that. */
export function tell(telling) {
    try {
        telling();
    }
    catch (error) {
        console.error(error);
    }
}
/** Waits for a model, and tells how long it took to load or to fail. */
export async function observeLoad(observer, model, loading, options, backend) {
    const started = now();
    try {
        const loaded = await loading;
        const event = loadEvent(loaded, options, now() - started, backend.residentBytes());
        tell(() => observer.onLoad?.(event));
        return loaded;
    }
    catch (thrown) {
        const [error, duration] = [toModelError(thrown), now() - started];
        tell(() => observer.onFailure?.({ model, error, duration }));
        throw error;
    }
}
function loadEvent({ info, provider, fallbacks }, { source = 'bundled' }, duration, residentBytes) {
    const { name: model, version, sizeBytes } = info;
    const memory = residentBytes < 0 ? null : residentBytes;
    return { model, version, provider, fallbacks, source: kindOf(source), sizeBytes, duration, memory };
}
function kindOf(source) {
    if (source === 'bundled')
        return source;
    const kinds = ['url', 'folder', 'path', 'buffer', 'descriptor'];
    return kinds.find((kind) => kind in source) ?? 'bundled';
}
/** Waits for a run, and tells how it went. */
export async function observeRun(observer, model, running, isRetry) {
    const started = now();
    try {
        const ran = await running;
        tellOfRun(observer, model, ran, null, isRetry);
        return ran;
    }
    catch (thrown) {
        const error = toModelError(thrown);
        tellOfRun(observer, model, { queued: 0, duration: now() - started }, error, isRetry);
        throw error;
    }
}
/** `observeRun` for a run during which JavaScript waits. */
export function observeRunSync(observer, model, run) {
    const started = now();
    try {
        const ran = run();
        tellOfRun(observer, model, { queued: 0, duration: now() - started }, null, false);
        return ran;
    }
    catch (thrown) {
        const error = toModelError(thrown);
        tellOfRun(observer, model, { queued: 0, duration: now() - started }, error, false);
        throw error;
    }
}
function tellOfRun(observer, { info, provider }, { queued, duration }, error, isRetry) {
    tell(() => observer.onRun?.({ model: info.name, provider, queued, duration, error, isRetry }));
}
