// Which session serves the runs of a model: its own, or one on the CPU after failures.
import { isOfProvider, ModelError, toModelError } from './errors.js';
import { Heat } from './heat.js';
import { observeLoad, tell } from './observing.js';
import { openModel } from './opening.js';
import { policiesOf } from './policies.js';
import { Reopening } from './reopening.js';
import { Session } from './session.js';
import { keepFiles } from './sources.js';
const MOST_FAILURES = 3;
/** Follows the policies of the app. */
export class Serving {
    /** The session that was open last: it knows the tensors though it may be closed. */
    latest;
    /** Providers that did not start, or failed. */
    fallbacks;
    policies;
    usual;
    spare = null;
    /** The session of a provider that failed too often: closed after its last run, or at the end if worklets may have it. */
    retired = null;
    /** Null for sessions whose threads stay as they are. */
    heat;
    isSwapping = false;
    failures = 0;
    isPinned = false;
    wasRun = false;
    isEnded = false;
    /** Memory or a descriptor that the app may have given back since: nothing is opened from there again. */
    isLent;
    unsubscribe;
    letGo;
    constructor(first) {
        this.latest = new Session(first);
        this.fallbacks = first.fallbacks;
        this.policies = policiesOf(first.options.policies);
        this.isLent = isLent(first.options);
        this.heat = this.isLent ? null : Heat.of(first.backend, first.options);
        this.usual = new Reopening(this.latest, () => this.reopen(first));
        this.letGo = keepFiles(first.paths);
        const isReleased = this.policies.releaseOnMemoryPressure && !this.isLent;
        this.unsubscribe = isReleased ? first.backend.onMemoryPressure(() => { this.release(); }) : nothing;
    }
    /**
     * Before a run: what is lost is opened again by it, and if the device has become hot or cool, the model is opened with
     * other threads, for which no run waits.
     */
    prepare() {
        this.dropLost();
        if (this.heat === null || this.isPinned || !this.wasRun || this.isSwapping)
            return;
        const threads = this.heat.change(this.latest.outcome.provider);
        if (threads === null)
            return;
        const { current } = this.usual;
        if (current === null)
            this.heat.follow(threads);
        else
            void this.swap(this.heat, threads, current);
    }
    /** Whether inputs are read again after the call: by a session that is not open yet, or by one on the CPU. */
    get readsLater() {
        return this.usual.current === null || this.mayRetry();
    }
    /** Does something on the session, which is opened first where it was released, and once more on the CPU if that fails. */
    async run(attempt, signal) {
        const [usual, mayRetry] = [this.usual, this.mayRetry()];
        try {
            const result = await this.use((session) => attempt(session, false), signal);
            this.failures = 0;
            this.spare?.release();
            return result;
        }
        catch (thrown) {
            const error = toModelError(thrown);
            if (!isOfProvider(error) || !mayRetry || this.isEnded)
                throw error;
            return await this.retry(attempt, usual, error, signal);
        }
        finally {
            if (!this.isPinned)
                this.retired?.release();
        }
    }
    /** `run` without another attempt. */
    use(work, signal) {
        this.wasRun = true;
        this.dropLost();
        return this.usual.use(work, signal);
    }
    /** A session whose host has failed. */
    dropLost() {
        for (const each of this.isLent ? [] : [this.usual, this.spare]) {
            const session = each?.current;
            if (session?.isLost === true)
                each?.lose(session);
        }
    }
    /**
     * The session for what does not wait. It is not released from now on.
     *
     * @throws ModelError `unsupported` where it was released
     */
    now() {
        const { current } = this.usual;
        if (current === null) {
            throw new ModelError('unsupported', 'the model was released when memory was short: run() opens it again');
        }
        this.isPinned = true;
        return current;
    }
    end() {
        this.isEnded = true;
        this.unsubscribe();
        this.letGo();
        for (const each of [this.usual, this.spare, this.retired])
            each?.end();
    }
    mayRetry() {
        return this.policies.retryOnCpu && this.latest.outcome.provider !== 'cpu' && !this.isLent;
    }
    release() {
        if (!this.wasRun || this.isPinned)
            return;
        this.spare?.release();
        if (this.usual.release())
            this.tellOfRelease('memory');
    }
    tellOfRelease(reason) {
        const { observer } = this.latest.outcome.options;
        if (observer === undefined)
            return;
        const { name: model } = this.latest.about.info;
        tell(() => observer.onRelease?.({ model, reason }));
    }
    async reopen(first) {
        const session = await openOn(first.provider, first, this.heat?.threads);
        this.show(session);
        return session;
    }
    show(session) {
        this.fallbacks = [...this.fallbacks, ...session.outcome.fallbacks];
        this.latest = session;
    }
    /** Opens a session with other threads, and then puts it in the place of the one before. If that fails, that one stays. */
    async swap(heat, threads, before) {
        const { usual } = this;
        this.isSwapping = true;
        try {
            const session = await openOn(before.outcome.provider, before.outcome, threads);
            if (this.isEnded || this.isPinned || usual.current !== before) {
                session.close();
                return;
            }
            heat.follow(threads);
            this.spare?.release();
            usual.replace(session);
            this.show(session);
            this.tellOfRelease('thermal');
        }
        catch {
            heat.postpone();
        }
        finally {
            this.isSwapping = false;
        }
    }
    /** If it succeeds on the CPU, what failed is the provider; else the call, and the CPU's session is not kept for it. */
    async retry(attempt, failed, first, signal) {
        // Others may have failed before, and the model may be on the CPU since.
        const cpu = this.retired === failed ? this.usual : this.cpu();
        try {
            return await cpu.use(async (session) => {
                const result = await attempt(session, true);
                if (this.usual === failed)
                    this.countFailure(cpu, session, first);
                return result;
            }, signal);
        }
        catch (thrown) {
            this.spare?.release();
            const { code, message } = toModelError(thrown);
            throw new ModelError(code, message, { cause: first });
        }
    }
    cpu() {
        this.spare ??= new Reopening(null, () => openOn('cpu', this.latest.outcome, this.heat?.threads));
        return this.spare;
    }
    countFailure(cpu, session, error) {
        this.failures += 1;
        if (this.failures < MOST_FAILURES)
            return;
        const { provider } = this.latest.outcome;
        this.fallbacks = [...this.fallbacks, { provider, reason: error.message }];
        this.latest = session;
        [this.retired, this.usual, this.spare] = [this.usual, cpu, null];
    }
}
/** Opens the model of a session once more, from the same source. */
async function openOn(provider, { model, backend, options, proofs }, threads = options.threads ?? 0) {
    const again = { ...options, providers: [provider], threads };
    // Those were of the first load.
    for (const name of ['signal', 'onProgress', 'proof'])
        Reflect.deleteProperty(again, name);
    const opening = openModel(model, backend, again).then((outcome) => new Session({ ...outcome, proofs }));
    const { observer } = options;
    if (observer === undefined)
        return opening;
    const loading = opening.then((session) => ({ ...session.about, session }));
    return (await observeLoad(observer, model.name, loading, options, backend)).session;
}
function isLent({ source = 'bundled' }) {
    return source !== 'bundled' && ('buffer' in source || 'descriptor' in source);
}
function nothing() {
    // there is no subscription
}
