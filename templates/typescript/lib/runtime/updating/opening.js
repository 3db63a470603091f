// Opens what an updater has downloaded. Whatever goes wrong, the model before it is opened, and at last the app's own.
import { toModelError } from '../errors.js';
import { observeLoad } from '../observing.js';
import { openModel } from '../opening.js';
import { keptDocument } from './asking.js';
import { fatal } from './attempts.js';
import { filesFor } from './choosing.js';
import { goldenOf, releaseOf } from './releases.js';
import { storedModel, withoutActive } from './state.js';
import { FAULTS } from './trying.js';
/** Attempts to open a version that ended the app: one more is not made. */
export const MOST_ATTEMPTS = 2;
/** Errors that nothing else would have been opened with, either. */
const OWN_FAULTS = new Set(['cancelled', 'bad-options', 'runtime-version']);
/** Opens models of a channel. */
export class Opener {
    channel;
    backend;
    takerOf;
    onDropped;
    /** SHA-256 of files that models of this process may open again. */
    opened = new Set();
    constructor(channel, backend, takerOf, onDropped) {
        this.channel = channel;
        this.backend = backend;
        this.takerOf = takerOf;
        this.onDropped = onDropped;
    }
    /**
     * The model of the release that is active, or of the one before; null where there is none. One load of a model after the
     * other, so that each counts its own attempts.
     *
     * @throws ModelError `cancelled`, `bad-options`, `runtime-version`
     */
    open(loadable) {
        const { name } = loadable.descriptor;
        return this.channel.platform.alone(`opening ${name}`, async () => {
            for (;;) {
                const active = await this.begin(name);
                if (active === null)
                    return null;
                try {
                    const model = await this.openRelease(active, loadable);
                    for (const { sha256 } of active.files)
                        this.opened.add(sha256);
                    await this.channel.ledger.changeModel(name, () => ({ opening: null }));
                    return model;
                }
                catch (reason) {
                    await this.fail(name, toModelError(reason));
                }
                finally {
                    this.channel.platform.attempts?.end(`opening ${name}`);
                }
            }
        });
    }
    /** The release to open next, whose attempt is counted; null for the app's own model. */
    async begin(name) {
        for (;;) {
            const { active, opening } = storedModel(await this.channel.ledger.read(), name);
            if (active === null)
                return null;
            const { attempts } = this.channel.platform;
            const count = opening?.version === active.version ? fatal(opening.count, `opening ${name}`, attempts) : 0;
            if (active.number <= this.channel.delivery.number) {
                await this.drop(name, '', `version ${active.version} is not newer than the app's own`);
            }
            else if (count >= MOST_ATTEMPTS) {
                await this.drop(name, 'the app ended twice while it was opened', '');
            }
            else {
                await this.channel.ledger.changeModel(name, () => ({ opening: { version: active.version, count: count + 1 } }));
                attempts?.begin(`opening ${name}`);
                return active;
            }
        }
    }
    async openRelease(stored, loadable) {
        const { descriptor, options } = loadable;
        const fitting = await this.fittingOf(descriptor.name, stored);
        const { backend, source } = this.channel.platform.opening();
        const released = releaseOf(descriptor, this.backend, fitting);
        // Without samples a model can be opened all the same.
        const golden = await goldenOf(released, fitting.files, this.channel.platform).catch(() => []);
        const model = { ...released, golden };
        const given = { ...options, source };
        const loading = openModel(model, backend, given).then((outcome) => made(loadable.Loaded, outcome));
        const { observer } = options;
        return observer === undefined ? loading : observeLoad(observer, descriptor.name, loading, given, this.backend);
    }
    /** Verified as if it had just come, but for its end and its number. */
    async fittingOf(name, stored) {
        const found = await keptDocument(this.channel, stored.document);
        const release = found?.document.models.get(name)?.find(({ version }) => version === stored.version);
        const taker = this.takerOf(name);
        if (release === undefined || release.contract !== taker.contract) {
            throw new Error(`[missing] the document of version ${stored.version} is not there, or damaged`);
        }
        const kept = new Set(stored.files.map(({ sha256 }) => sha256));
        const files = filesFor(release.files, taker).filter(({ file, data }) => [file, ...data].every((each) => kept.has(each.sha256)));
        if (files.length === 0)
            throw new Error(`[missing] version ${stored.version} has no file for this app`);
        return { release, files };
    }
    /** Errors of the runtime are the release's own; what is damaged or missing may be downloaded again. */
    async fail(name, error) {
        if (OWN_FAULTS.has(error.code)) {
            await this.channel.ledger.changeModel(name, () => ({ opening: null }));
            throw error;
        }
        const isFault = FAULTS.has(error.code);
        await this.drop(name, isFault ? error.message : '', error.message);
    }
    async drop(name, ban, reason) {
        const { active } = storedModel(await this.channel.ledger.read(), name);
        await this.channel.ledger.changeModel(name, (model) => withoutActive(model, ban));
        this.onDropped(name, `version ${active?.version ?? ''} is not opened any more: ${ban === '' ? reason : ban}`);
    }
}
/** A session that nobody gets is closed. */
function made(Loaded, outcome) {
    try {
        return new Loaded(outcome);
    }
    catch (error) {
        outcome.backend.close(outcome.opened.session);
        throw error;
    }
}
