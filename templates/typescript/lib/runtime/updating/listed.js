// The releases of a model in a channel, and for whom they are.
import { distinct, Fields, FormError } from './fields.js';
const SCHEMA_VERSION = 1;
/**
 * Reads the list of a model's releases; the newest is the first.
 *
 * @throws FormError; SyntaxError for what is no JSON
 */
export function readReleases(text, { packageName, channel }, model) {
    const fields = new Fields(JSON.parse(text), 'the list');
    if (fields.whole('schema-version') !== SCHEMA_VERSION) {
        throw new FormError(`it has schema version ${String(fields.whole('schema-version'))}, and this app reads 1`);
    }
    const found = [fields.name('model'), fields.name('channel'), fields.name('package')].join(' of ');
    const wanted = [model, channel, packageName].join(' of ');
    if (found !== wanted)
        throw new FormError(`it is that of ${found}, not of ${wanted}`);
    return distinct(fields.list('releases', readRelease), ({ version }) => version, 'version');
}
function readRelease(fields) {
    const rollout = fields.object('rollout');
    const conditions = fields.object('conditions');
    const percent = rollout.whole('percent');
    if (percent > 100)
        throw new FormError('a rollout has more than 100 %');
    const minApp = fields.text('min-app');
    return {
        version: fields.name('version'),
        number: fields.whole('number'),
        contract: fields.sha256('contract'),
        minApp: minApp === '' ? '' : fields.name('min-app'),
        rollout: { percent, salt: rollout.text('salt') },
        conditions: {
            wifi: conditions.flag('wifi'),
            charging: conditions.flag('charging'),
            freeBytes: conditions.whole('free-bytes'),
        },
        files: fields.list('files', readFile),
    };
}
function readFile(fields) {
    const golden = fields.list('golden', readBlob);
    if (golden.length > 1)
        throw new FormError('a file has samples twice');
    return {
        target: fields.text('target'),
        inside: fields.text('inside'),
        provider: fields.text('provider'),
        chips: fields.texts('chips'),
        runtime: fields.text('runtime'),
        runtimeRange: fields.text('runtime-range'),
        file: readBlob(fields.object('file')),
        data: fields.list('data', readBlob),
        settings: Object.fromEntries(fields.list('settings', (each) => [each.text('key'), each.text('value')])),
        golden: golden[0] ?? null,
        allowed: fields.list('allowed', readTolerance),
    };
}
function readBlob(fields) {
    return {
        name: fields.name('name'),
        sha256: fields.sha256('sha256'),
        sizeBytes: fields.whole('size-bytes'),
        deltas: fields.list('deltas', (delta) => ({
            source: delta.sha256('source'),
            sha256: delta.sha256('sha256'),
            sizeBytes: delta.whole('size-bytes'),
        })),
    };
}
function readTolerance(fields) {
    return {
        output: fields.text('output'),
        rtol: fields.amount('rtol'),
        atol: fields.amount('atol'),
        scale: fields.amount('scale'),
        mismatches: fields.whole('mismatches'),
    };
}
