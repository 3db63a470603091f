// What a model does by itself when the device takes something away from it.
/** The policies, of which an app may leave out any. */
export function policiesOf({ retryOnCpu = true, fewerThreadsWhenHot = true, releaseOnMemoryPressure = true, } = {}) {
    return { retryOnCpu, fewerThreadsWhenHot, releaseOnMemoryPressure };
}
