package android.app

/** How a process ended, as Android would tell. */
public class ApplicationExitInfo(private val reason: Int, private val status: Int, private val timestamp: Long) {
    public fun getReason(): Int = reason

    public fun getStatus(): Int = status

    public fun getTimestamp(): Long = timestamp

    public companion object {
        public const val REASON_UNKNOWN: Int = 0
        public const val REASON_SIGNALED: Int = 2
        public const val REASON_CRASH: Int = 4
        public const val REASON_CRASH_NATIVE: Int = 5
        public const val REASON_ANR: Int = 6
        public const val REASON_USER_REQUESTED: Int = 10
        public const val REASON_USER_STOPPED: Int = 11
    }
}

/** How earlier processes ended, and whether somebody sees the app: what a test says. */
public class ActivityManager {
    public class RunningAppProcessInfo {
        @JvmField public var importance: Int = 0

        public companion object {
            public const val IMPORTANCE_FOREGROUND: Int = 100
        }
    }

    public fun getHistoricalProcessExitReasons(packageName: String?, pid: Int, maxNum: Int): List<ApplicationExitInfo> =
        ends[pid].orEmpty()

    public companion object {
        /** By the numbers of processes. */
        @JvmField public val ends: MutableMap<Int, List<ApplicationExitInfo>> = mutableMapOf()

        @Volatile
        @JvmField
        public var importance: Int = RunningAppProcessInfo.IMPORTANCE_FOREGROUND

        @JvmStatic
        public fun getMyMemoryState(state: RunningAppProcessInfo) {
            state.importance = importance
        }
    }
}
