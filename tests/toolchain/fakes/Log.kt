package android.util

import java.util.Collections

/** Android's log: written to standard error and kept in [lines]. */
public object Log {
    public const val VERBOSE: Int = 2
    public const val DEBUG: Int = 3
    public const val INFO: Int = 4
    public const val WARN: Int = 5
    public const val ERROR: Int = 6

    public val lines: MutableList<String> = Collections.synchronizedList(mutableListOf())

    @JvmStatic public fun v(tag: String?, message: String): Int = record("V", tag, message, null)

    @JvmStatic public fun d(tag: String?, message: String): Int = record("D", tag, message, null)

    @JvmStatic public fun d(tag: String?, message: String?, error: Throwable?): Int = record("D", tag, message, error)

    @JvmStatic public fun i(tag: String?, message: String): Int = record("I", tag, message, null)

    @JvmStatic public fun i(tag: String?, message: String?, error: Throwable?): Int = record("I", tag, message, error)

    @JvmStatic public fun w(tag: String?, message: String): Int = record("W", tag, message, null)

    @JvmStatic public fun w(tag: String?, message: String?, error: Throwable?): Int = record("W", tag, message, error)

    @JvmStatic public fun e(tag: String?, message: String): Int = record("E", tag, message, null)

    @JvmStatic public fun e(tag: String?, message: String?, error: Throwable?): Int = record("E", tag, message, error)

    @JvmStatic public fun isLoggable(tag: String?, level: Int): Boolean = tag != null && level >= INFO

    private fun record(level: String, tag: String?, message: String?, error: Throwable?): Int {
        val line = "$level/$tag: $message" + if (error == null) "" else " ($error)"
        lines += line
        System.err.println(line)
        return line.length
    }
}
