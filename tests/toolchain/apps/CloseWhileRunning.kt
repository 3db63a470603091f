package apps

import com.example.models.Minilm
import device.report
import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.AtomicInteger
import kotlin.concurrent.thread

/**
 * Closes a model under the hands of threads that run it. A run that has ended is counted a little later, which may be
 * after the model was closed: once without that, of ten times, is enough.
 */
fun main(arguments: Array<String>) {
    val task = Task(arguments)
    lateinit var ends: Pair<Int, String>
    (1..10).any {
        ends = closedWhileRunning(task)
        ends.first == 0
    }
    report("finished after close", ends.first)
    report("failures", ends.second)
}

/** How many runs ended after the model was closed, and how the threads ended. */
private fun closedWhileRunning(task: Task): Pair<Int, String> {
    val model = Minilm.loadBlocking(task.app, task.options)
    val started = CountDownLatch(3)
    val finished = AtomicInteger()
    val failures = java.util.Collections.synchronizedList(mutableListOf<Throwable>())
    val workers = List(3) {
        thread {
            val input = Minilm.Input(sequence = 128)
            try {
                while (true) {
                    started.countDown()
                    model.runBlocking(input)
                    finished.incrementAndGet()
                }
            } catch (failure: IllegalStateException) {
                failures += failure
            }
        }
    }
    started.await()
    while (finished.get() < 3) Thread.sleep(1)
    model.close()
    val atClose = finished.get()
    workers.forEach(Thread::join)
    return finished.get() - atClose to failures.joinToString("|") { it.message.orEmpty() }
}
