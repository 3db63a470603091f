package dev.mobpack.farm

import android.app.Activity
import android.app.Instrumentation
import android.os.Bundle

/**
 * Runs the job as one test, in the words that `am instrument -r` prints and farms read: see the constants of
 * androidx.test.internal.runner.listener.InstrumentationResultPrinter.
 */
public class FarmInstrumentation : Instrumentation() {
    override fun onCreate(arguments: Bundle?) {
        super.onCreate(arguments)
        start()
    }

    override fun onStart() {
        super.onStart()
        sendStatus(START, test())
        val failure = try {
            FarmRun(targetContext).run { line -> sendStatus(IN_PROGRESS, test().apply { putString(STREAM, "\n$line") }) }
            null
        } catch (failure: Throwable) {
            failure
        }
        if (failure == null) {
            sendStatus(PASSED, test())
        } else {
            sendStatus(FAILED, test().apply { putString("stack", failure.stackTraceToString()) })
        }
        val summary = if (failure == null) "\nOK (1 test)\n" else "\nFAILURES!!!\nTests run: 1,  Failures: 1\n"
        finish(Activity.RESULT_OK, Bundle().apply { putString(STREAM, summary) })
    }

    private fun test() = Bundle().apply {
        putString("id", "AndroidJUnitRunner")
        putString("class", FarmInstrumentation::class.java.name)
        putString("test", "job")
        putInt("numtests", 1)
        putInt("current", 1)
    }

    private companion object {
        const val STREAM = "stream"
        const val START = 1
        const val IN_PROGRESS = 2
        const val PASSED = 0
        const val FAILED = -2
    }
}
