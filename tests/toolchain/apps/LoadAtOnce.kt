package apps

import com.example.models.OrientationModel
import device.report
import java.util.concurrent.CyclicBarrier
import kotlin.concurrent.thread

private const val THREADS = 4

/** Loads a model for the first time in several threads at once, and reports what they say. */
fun main(arguments: Array<String>) {
    val task = Task(arguments)
    val start = CyclicBarrier(THREADS)
    val failures = java.util.Collections.synchronizedList(mutableListOf<String>())
    List(THREADS) {
        thread {
            start.await()
            runCatching { OrientationModel.loadBlocking(task.app, task.options).close() }.onFailure { failures += it.toString() }
        }
    }.forEach { it.join() }
    report("failures", failures.joinToString())
}
