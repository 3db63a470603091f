package apps

import com.example.models.Minilm
import device.report
import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.AtomicInteger
import kotlin.concurrent.thread

/** Closes a model under the hands of threads that run it. */
fun main(arguments: Array<String>) {
    val task = Task(arguments)
    val model = Minilm.loadBlocking(task.app, task.options)
    val started = CountDownLatch(3)
    val finished = AtomicInteger()
    val failures = java.util.Collections.synchronizedList(mutableListOf<Throwable>())
    val workers = List(3) {
        thread {
            val input = Minilm.Input.allocate(sequence = 128)
            try {
                while (true) {
                    started.countDown()
                    model.run(input)
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
    report("finished after close", finished.get() - atClose)
    report("failures", failures.joinToString("|") { it.message.orEmpty() })
}
