// Settings that were measured to be the best on a chip.
import { currentBackend } from './backend.js';
let isFollowed = true;
/**
 * Whether models that are loaded from now on have the settings that were measured for this device's chip, where the app
 * sets none; true until it is called.
 */
export function setTuned(isWanted) {
    isFollowed = isWanted;
}
/** The definition of a model that follows what was measured, unless the app sets its own. */
export function tuned(definition, measured) {
    return {
        ...definition,
        load: async (own = {}) => {
            if (!isFollowed)
                return definition.load(own);
            const { platform, device } = currentBackend();
            const found = new Map(Object.entries(measured[platform] ?? {})).get(device.chip);
            return definition.load(found === undefined ? own : applied(own, found));
        },
    };
}
/**
 * The same for a model with `variants`: paths of files that only some chips open, in the place of all others. An app that
 * sets providers gets the package's own variant, as the other was measured with those of its chip.
 */
export function varied(define, model, variants, measured) {
    return {
        ...define(model),
        load: async (own = {}) => tuned(define(opened(model, variants, own)), measured).load(own),
    };
}
/** The model with the files of one variant: of that for this device's chip, or of the package's own. */
function opened(model, variants, own) {
    const { platform, device } = currentBackend();
    const setup = model.platforms[platform];
    if (setup === undefined)
        return model;
    // Both variants may have a file.
    const isOfVariant = ({ path, chips }) => chips.length > 0 && variants.includes(path);
    const found = setup.files.filter((file) => isOfVariant(file) && file.chips.includes(device.chip));
    const isFastest = isFollowed && own.providers === undefined && found.length > 0;
    const files = isFastest ? found : setup.files.filter((file) => !isOfVariant(file));
    return { ...model, platforms: { ...model.platforms, [platform]: { ...setup, files } } };
}
/** Merges settings of a provider; those that the app has set stay. */
function applied(own, { providers, threads, providerOptions }) {
    const merged = { ...providerOptions };
    for (const [name, settings] of Object.entries(own.providerOptions ?? {})) {
        const provider = name;
        merged[provider] = { ...merged[provider], ...settings };
    }
    return {
        ...own,
        ...(providers.length > 0 && own.providers === undefined ? { providers } : {}),
        ...(threads > 0 && (own.threads ?? 0) === 0 ? { threads } : {}),
        providerOptions: merged,
    };
}
