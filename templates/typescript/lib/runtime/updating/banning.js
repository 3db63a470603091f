// Which releases are banned: those that are at fault, not those that a device had no room, no worker or no time for.
import { tell } from '../observing.js';
import { storedModel, timeOf, withModel } from './state.js';
const BAN_DAYS = 30;
/** How long a version is banned, in milliseconds. */
export const BAN_MS = BAN_DAYS * 24 * 3_600_000;
/** Starts of the app in which ONNX Runtime fails at a version: the last one bans it. */
const MOST_STARTS = 3;
/** Attempts to open a version that ended the app: one more is not made. */
export const MOST_ATTEMPTS = 2;
/** Failures of ONNX Runtime in this start of the app, while somebody saw the app. */
const failedHere = new Set();
/** For files that are whole: the faults of others are those of the device's storage. */
export function faultOf({ code }) {
    if (code === 'bad-model' || code === 'bad-input' || code === 'corrupted')
        return 'release';
    return code === 'runtime' ? 'runtime' : 'device';
}
/** Whether ONNX Runtime has failed at a version since the app was started: it is not tried again before the next start. */
export function hasFailedHere(state, model, version) {
    return failedHere.has(keyOf(state, model, version));
}
/** Notes that ONNX Runtime has failed at a version. Whether it has in so many starts of the app that the version is banned. */
export async function failsTooOften({ ledger }, model, version) {
    const before = await ledger.read();
    if (hasFailedHere(before, model, version))
        return false;
    failedHere.add(keyOf(before, model, version));
    const state = await ledger.changeModel(model, ({ failing }) => ({
        failing: { version, starts: failing?.version === version ? failing.starts + 1 : 1 },
    }));
    return (storedModel(state, model).failing?.starts ?? 0) >= MOST_STARTS;
}
/** Bans a version from now on, and changes what else is known of the model. Gives words about it. */
export async function ban({ ledger }, { model, version, reason }, observers, change) {
    await ledger.change((state) => {
        const stored = storedModel(state, model);
        const now = timeOf(state);
        const others = stored.banned.filter((each) => each.version !== version && holds(each.until, now));
        return withModel(state, model, {
            ...change(stored),
            ...withoutFailing(stored, version),
            banned: [...others, { version, reason, until: now + BAN_MS }],
        });
    });
    for (const observer of new Set(observers))
        tell(() => observer?.onBan?.({ model, version, reason }));
    return `version ${version} is not used for ${String(BAN_DAYS)} days: ${reason}`;
}
/** Versions that are banned now. */
export function bannedIn(state, model) {
    const { banned } = storedModel(state, model);
    return new Set(banned.filter(({ until }) => holds(until, timeOf(state))).map(({ version }) => version));
}
/** State of a model whose version has started after all. */
export function withoutFailing({ failing }, version) {
    return { failing: failing?.version === version ? null : failing };
}
/** A ban that ends later than one from now on was made with another clock. */
function holds(until, now) {
    return now < until && until <= now + BAN_MS;
}
function keyOf({ device }, model, version) {
    return `${device} ${model} ${version}`;
}
