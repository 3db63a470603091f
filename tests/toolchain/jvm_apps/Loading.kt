package apps

import com.example.models.Classifier
import device.report
import device.reportFailure

/** Loads a model once, says what came of it, and waits. */
fun main(arguments: Array<String>) {
    val task = Task(arguments)
    reportFailure("load") {
        Classifier.loadBlocking(task.app, task.options).use { report("sha256", it.info.sha256) }
    }
    Thread.sleep(1000L * task.number("seconds"))
}
