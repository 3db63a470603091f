package android.os

/** The thermal status that a test sets. */
public object PowerManager {
    public const val THERMAL_STATUS_LIGHT: Int = 1
    public const val THERMAL_STATUS_MODERATE: Int = 2
    public const val THERMAL_STATUS_SEVERE: Int = 3

    @Volatile
    public var status: Int = 0

    /** How often it was asked for. */
    @Volatile
    public var asked: Int = 0

    public fun getCurrentThermalStatus(): Int {
        asked += 1
        return status
    }
}
