// The state of the device that a test sets.
package android.net

/** Whether the network costs something; null for an app that may not know. */
public object ConnectivityManager {
    @Volatile
    public var isMetered: Boolean? = false

    public fun isActiveNetworkMetered(): Boolean =
        isMetered ?: throw SecurityException("Neither user 1 nor current process has android.permission.ACCESS_NETWORK_STATE")
}
