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
/** What the app has set stays; settings of a provider are merged. */
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
