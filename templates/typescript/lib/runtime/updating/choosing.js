// Which release of a model a device gets.
import { releaseNumber } from './delivery.js';
/** The first release that fits. */
export async function choose(releases, taker) {
    for (const release of releases) {
        const files = filesFor(release.files, taker);
        if (!mayTake(release, taker) || files.length === 0)
            continue;
        if (!(await taker.takesPart(release.rollout.percent, release.rollout.salt)))
            continue;
        return release.number <= taker.number ? 'own' : { release, files };
    }
    return null;
}
function mayTake({ version, contract, minApp }, taker) {
    if (contract !== taker.contract || taker.banned.has(version))
        return false;
    if (taker.pin !== undefined && taker.pin !== version)
        return false;
    return minApp === '' || releaseNumber(minApp) <= taker.number;
}
/** The first fitting file of each provider that is wanted. A wrapper has files of its own only where they differ. */
export function filesFor(files, { build, chip, providers }) {
    const { target, inside, runtime } = build;
    const ofTarget = files.filter((file) => file.target === target);
    const ofWrapper = ofTarget.filter((file) => file.inside === inside);
    const own = ofWrapper.length > 0 ? ofWrapper : ofTarget.filter((file) => file.inside === '');
    const fitting = own.filter((file) => isRuntimeIn(runtime, file) && (file.chips.length === 0 || file.chips.includes(chip)));
    return [...new Set(providers)].flatMap((provider) => {
        const found = fitting.find((file) => file.provider === provider);
        return found === undefined ? [] : [found];
    });
}
/** A range is as in `1.29`, which is from there on below 2, or as in `[1.29,1.32)`. */
function isRuntimeIn(runtime, file) {
    if (file.runtime === runtime)
        return true;
    const [, low, high = '2'] = /^\[?(\d+(?:\.\d+)*)(?:,(\d+(?:\.\d+)*)\))?$/.exec(file.runtimeRange) ?? [];
    const found = /(\d+(?:\.\d+)+)\D*$/.exec(runtime)?.[1];
    if (low === undefined || found === undefined)
        return false;
    return releaseNumber(low) <= releaseNumber(found) && releaseNumber(found) < releaseNumber(high);
}
