/**
 * Each of these is on unless it is turned off. They are about `run`, and what uses it; `runSync` opens nothing. A model
 * from memory or a descriptor of the app has neither.
 */
export interface Policies {
    /**
     * A run that fails in ONNX Runtime on another provider than the CPU is repeated once on the CPU. After three failures
     * in a row the model stays there: `provider` and `fallbacks` say so. Inputs are copied for that, unless the model is on
     * the CPU already.
     */
    readonly retryOnCpu?: boolean;
    /**
     * Half the threads of a provider that computes on the processor's cores while the device is so hot that the system slows it down, unless the option
     * `threads` is set: after 10 s the model is opened with them beside its runs, which then change over, and with the usual
     * ones once it has been cool for a minute.
     */
    readonly fewerThreadsWhenHot?: boolean;
    /**
     * When the system warns that memory is short, a model that nothing runs is released, and its next run opens it again.
     * Not one that was used by `runSync` or `worklet`.
     */
    readonly releaseOnMemoryPressure?: boolean;
}
/** The policies, of which an app may leave out any. */
export declare function policiesOf({ retryOnCpu, fewerThreadsWhenHot, releaseOnMemoryPressure, }?: Policies): Required<Policies>;
