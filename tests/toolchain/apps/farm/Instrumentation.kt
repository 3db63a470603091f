package android.app

import android.content.Context
import android.os.Bundle

/** Prints as `am instrument -r` does. */
public open class Instrumentation {
    public companion object {
        public lateinit var target: Context
    }

    public open fun onCreate(arguments: Bundle?) {}

    public open fun onStart() {}

    public fun start() {
        onStart()
    }

    public fun getTargetContext(): Context = target

    public fun sendStatus(resultCode: Int, results: Bundle) {
        results.values.forEach { (key, value) -> println("INSTRUMENTATION_STATUS: $key=$value") }
        println("INSTRUMENTATION_STATUS_CODE: $resultCode")
    }

    public fun finish(resultCode: Int, results: Bundle) {
        results.values.forEach { (key, value) -> println("INSTRUMENTATION_RESULT: $key=$value") }
        println("INSTRUMENTATION_CODE: $resultCode")
    }
}
