// What a model does by itself when the device takes something away from it.
/** The policies, of which an app may leave out any. */
export function policiesOf({ retryOnCpu = true, releaseOnMemoryPressure = true } = {}) {
    return { retryOnCpu, releaseOnMemoryPressure };
}
