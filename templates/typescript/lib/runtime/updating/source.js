// The source of an updater, as `load` of each model takes it.
const updaters = new WeakMap();
/** A source of `models`. */
export function sourceFor(models, url) {
    const source = { url };
    updaters.set(source, models);
    return source;
}
/** Loads a model from the source of an updater, or from any other. */
export function loadUpdated(Loaded, descriptor, options, load) {
    const source = options?.source;
    const models = typeof source === 'object' ? updaters.get(source) : undefined;
    if (options === undefined || models === undefined)
        return load(options);
    return models.open({ descriptor, options, Loaded, load });
}
