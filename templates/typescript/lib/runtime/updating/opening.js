// Opens what an updater has downloaded. Whatever goes wrong, the model before it is opened, and at last the app's own.
import { toModelError } from '../errors.js';
import { observeLoad } from '../observing.js';
import { openModel } from '../opening.js';
import { fatal } from './attempts.js';
import { ban, failsTooOften, faultOf, hasFailedHere, MOST_ATTEMPTS, withoutFailing } from './banning.js';
import { filesFor } from './choosing.js';
import { goldenOf, releaseOf } from './releases.js';
import { storedModel, without } from './state.js';
import { keptReleases } from './tufClient.js';
/** Errors that nothing else would have been opened with, either. */
const OWN_FAULTS = new Set(['cancelled', 'bad-options', 'runtime-version']);
/** Errors of files that may be downloaded again. */
const DAMAGES = new Set(['missing', 'corrupted', 'unreadable']);
/** Opens models of a channel. */
export class Opener {
    channel;
    given;
    /** SHA-256 of files that models may open again. */
    opened = new Set();
    constructor(given) {
        this.channel = given.channel;
        this.given = given;
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
            const passed = new Set();
            for (;;) {
                const release = await this.begin(loadable, passed);
                if (release === null)
                    return null;
                try {
                    const model = await this.openRelease(release, loadable);
                    for (const { sha256 } of release.files)
                        this.opened.add(sha256);
                    await this.channel.ledger.changeModel(name, (stored) => ({ opening: null, ...withoutFailing(stored, release.version) }));
                    return model;
                }
                catch (reason) {
                    await this.fail(loadable, release, toModelError(reason));
                    passed.add(release.version);
                }
                finally {
                    await this.channel.platform.attempts?.end(`opening ${name}`);
                }
            }
        });
    }
    /** The release to open next but those that were `passed`, whose attempt is counted; null for the app's own model. */
    async begin(loadable, passed) {
        const { ledger, platform, delivery } = this.channel;
        const { name } = loadable.descriptor;
        for (;;) {
            const state = await ledger.read();
            const { active, previous, opening } = storedModel(state, name);
            const isOpened = ({ version }) => !passed.has(version) && !hasFailedHere(state, name, version);
            const release = [active, previous].filter((each) => each !== null).find(isOpened);
            if (release === undefined)
                return null;
            const { version } = release;
            const count = opening?.version === version ? await fatal(opening.count, `opening ${name}`, platform.attempts) : 0;
            if (release.number <= delivery.number) {
                await this.drop(name, version, "it is not newer than the app's own");
            }
            else if (count >= MOST_ATTEMPTS) {
                await this.ban(loadable, version, 'the app ended twice while it was opened');
            }
            else {
                await ledger.changeModel(name, () => ({ opening: { version, count: count + 1 } }));
                await platform.attempts?.begin(`opening ${name}`);
                return release;
            }
        }
    }
    async openRelease(stored, loadable) {
        const { descriptor, options } = loadable;
        const fitting = await this.fittingOf(descriptor.name, stored);
        const { backend, source } = this.channel.platform.opening();
        const released = releaseOf(descriptor, this.given.backend, fitting);
        // Without samples a model can be opened all the same.
        const golden = await goldenOf(released, fitting.files, this.channel.platform).catch(() => []);
        const model = { ...released, golden };
        const given = { ...options, source };
        const loading = openModel(model, backend, given).then((outcome) => made(loadable.Loaded, outcome));
        const { observer } = options;
        return observer === undefined ? loading : observeLoad(observer, descriptor.name, loading, given, this.given.backend);
    }
    async fittingOf(name, stored) {
        const found = await keptReleases(this.channel, name, stored.list);
        const release = found?.find(({ version }) => version === stored.version);
        const taker = this.given.takerOf(name);
        if (release === undefined || release.contract !== taker.contract) {
            throw new Error(`[missing] the list with version ${stored.version} is not there, is damaged, or its keys were revoked`);
        }
        const kept = new Set(stored.files.map(({ sha256 }) => sha256));
        const files = filesFor(release.files, taker).filter(({ file, data }) => [file, ...data].every((each) => kept.has(each.sha256)));
        if (files.length === 0)
            throw new Error(`[missing] version ${stored.version} has no file for this app`);
        return { release, files };
    }
    /** A release that is not at fault is opened another time; one that is damaged or missing, when it was downloaded again. */
    async fail(loadable, { version, files }, error) {
        const { name } = loadable.descriptor;
        const { ledger, platform } = this.channel;
        const fault = faultOf(error);
        const isCounted = fault === 'runtime' && platform.attempts?.isSeen(`opening ${name}`) !== false;
        if (DAMAGES.has(error.code) || (fault !== 'device' && !(await this.areWhole(files)))) {
            await this.drop(name, version, error.message);
        }
        else if (fault === 'release' || (isCounted && (await failsTooOften(this.channel, name, version)))) {
            await this.ban(loadable, version, error.message);
        }
        else {
            await ledger.changeModel(name, () => ({ opening: null }));
            if (OWN_FAULTS.has(error.code))
                throw error;
            this.given.onPassed(name, `version ${version} is not opened this time: ${error.message}`);
        }
    }
    /** Whether storage has kept all bytes: a load may look at some of them alone. */
    async areWhole(files) {
        for (const file of files) {
            if (!(await this.channel.platform.hasFile(file)))
                return false;
        }
        return true;
    }
    async ban({ descriptor, options }, version, reason) {
        const { name: model } = descriptor;
        const observers = [this.given.observer, options.observer];
        const words = await ban(this.channel, { model, version, reason }, observers, (stored) => without(stored, version));
        this.given.onPassed(model, words);
    }
    async drop(name, version, reason) {
        await this.channel.ledger.changeModel(name, (stored) => without(stored, version));
        this.given.onPassed(name, `version ${version} is not opened: ${reason}`);
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
