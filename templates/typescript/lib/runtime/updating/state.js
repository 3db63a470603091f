// What an updater remembers, and its text: `state.json`.
import { Fields, FormError } from './fields.js';
const SCHEMA = 1;
const NOTHING = { active: null, previous: null, trying: null, opening: null, banned: [], failing: null };
export function emptyState(device) {
    return { device, latest: 0, notBefore: 0, failures: 0, isFrozen: false, pins: new Map(), models: new Map() };
}
export function storedModel(state, name) {
    return state.models.get(name) ?? NOTHING;
}
/** The state with another one of a model. */
export function withModel(state, name, change) {
    return { ...state, models: new Map([...state.models, [name, { ...storedModel(state, name), ...change }]]) };
}
/** A model without one of its releases. */
export function without({ active, previous }, version) {
    const [first = null, second = null] = [active, previous].filter((each) => each !== null && each.version !== version);
    return { active: first, previous: second, opening: null };
}
/** The time, in milliseconds since 1970: a clock that is behind what was published is wrong. */
export function timeOf({ latest }) {
    return Math.max(Date.now(), latest);
}
/** Files of the releases that may be opened. */
export function filesInUse(state) {
    return [...state.models.values()].flatMap(({ active, previous }) => [...(active?.files ?? []), ...(previous?.files ?? [])]);
}
/** Lists of the releases that may be opened. */
export function listsInUse(state) {
    return [...state.models.values()].flatMap(({ active, previous }) => [active?.list ?? '', previous?.list ?? '']);
}
export function writeState(state) {
    return JSON.stringify({
        schema: SCHEMA,
        device: state.device,
        latest: state.latest,
        'not-before': state.notBefore,
        failures: state.failures,
        frozen: state.isFrozen,
        pins: Object.fromEntries(state.pins),
        models: Object.fromEntries(state.models),
    });
}
/** @throws FormError, or SyntaxError for what is no JSON */
export function readState(text) {
    const fields = new Fields(JSON.parse(text), 'state');
    if (fields.whole('schema') !== SCHEMA)
        throw new FormError('state is of another schema');
    return {
        device: fields.text('device'),
        latest: fields.whole('latest'),
        notBefore: fields.whole('not-before'),
        failures: fields.whole('failures'),
        isFrozen: fields.flag('frozen'),
        pins: fields.map('pins', (each, name) => each.text(name)),
        models: fields.map('models', (each, name) => readModel(each.object(name))),
    };
}
function readModel(fields) {
    return {
        active: fields.optional('active', readRelease),
        previous: fields.optional('previous', readRelease),
        trying: fields.optional('trying', readAttempts),
        opening: fields.optional('opening', readAttempts),
        banned: fields.list('banned', readBan),
        failing: fields.optional('failing', (each) => ({ version: each.text('version'), starts: each.whole('starts') })),
    };
}
/** Earlier versions have banned for ever, and for less: that has ended. */
function readBan(fields) {
    const until = fields.has('until') ? fields.whole('until') : 0;
    return { version: fields.text('version'), reason: fields.text('reason'), until };
}
function readRelease(fields) {
    return {
        list: fields.sha256('list'),
        version: fields.name('version'),
        number: fields.whole('number'),
        files: fields.list('files', (each) => ({ sha256: each.sha256('sha256'), sizeBytes: each.whole('sizeBytes') })),
    };
}
function readAttempts(fields) {
    return { version: fields.text('version'), count: fields.whole('count') };
}
