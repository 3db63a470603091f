package android.os

/** Whether the device is charged: what a test says. */
public object BatteryManager {
    @Volatile
    public var isOnPower: Boolean = false

    public fun isCharging(): Boolean = isOnPower
}
