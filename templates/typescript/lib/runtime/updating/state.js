// What an updater remembers, and its text: `state.json`.
import { Fields, FormError } from './fields.js';
const SCHEMA = 1;
const NOTHING = { active: null, previous: null, trying: null, opening: null, banned: [], failing: null };
const UNSEEN = { number: 0, sha256: '', latest: 0 };
export function emptyState(device, seen = UNSEEN) {
    return { device, seen, etag: '', notBefore: 0, failures: 0, isFrozen: false, pins: new Map(), models: new Map() };
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
/** The time, in milliseconds since 1970: a clock that is behind what documents have shown is wrong. */
export function timeOf({ seen }) {
    return Math.max(Date.now(), seen.latest);
}
/** Files of the releases that may be opened. */
export function filesInUse(state) {
    return [...state.models.values()].flatMap(({ active, previous }) => [...(active?.files ?? []), ...(previous?.files ?? [])]);
}
/** Documents that are read again: those of releases that may be opened, and the newest one. */
export function documentsInUse(state) {
    const releases = [...state.models.values()].flatMap(({ active, previous }) => [active, previous]);
    return new Set([state.seen.sha256, ...releases.flatMap((release) => (release === null ? [] : [release.document]))]);
}
export function writeState(state) {
    return JSON.stringify({
        schema: SCHEMA,
        device: state.device,
        seen: state.seen,
        etag: state.etag,
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
        seen: readSeen(fields.object('seen')),
        etag: fields.text('etag'),
        notBefore: fields.whole('not-before'),
        failures: fields.whole('failures'),
        isFrozen: fields.flag('frozen'),
        pins: fields.map('pins', (each, name) => each.text(name)),
        models: fields.map('models', (each, name) => readModel(each.object(name))),
    };
}
/** Documents that were seen, as far as a damaged state still names them: older ones stay refused. */
export function seenIn(text) {
    const found = /"seen":\{"number":(\d{1,16}),"sha256":"([0-9a-f]{64})"(?:,"latest":(\d{1,16}))?\}/.exec(text) ?? [];
    const [, number = '0', sha256 = '', latest = '0'] = found;
    const isSafe = Number.isSafeInteger(Number(number)) && Number.isSafeInteger(Number(latest));
    return isSafe && sha256 !== '' ? { number: Number(number), sha256, latest: Number(latest) } : UNSEEN;
}
function readSeen(fields) {
    const number = fields.whole('number');
    const latest = fields.has('latest') ? fields.whole('latest') : 0;
    return number === 0 ? { ...UNSEEN, latest } : { number, sha256: fields.sha256('sha256'), latest };
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
        document: fields.sha256('document'),
        version: fields.name('version'),
        number: fields.whole('number'),
        files: fields.list('files', (each) => ({ sha256: each.sha256('sha256'), sizeBytes: each.whole('sizeBytes') })),
    };
}
function readAttempts(fields) {
    return { version: fields.text('version'), count: fields.whole('count') };
}
