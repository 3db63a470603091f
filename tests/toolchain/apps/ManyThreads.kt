package apps

import com.example.models.OrientationModel
import device.report
import java.util.concurrent.CyclicBarrier
import java.util.concurrent.atomic.AtomicInteger
import kotlin.concurrent.thread

private const val PAGE = 3 * 224 * 224

/** Shares one model among threads, each with a page of its own. */
fun main(arguments: Array<String>) {
    val task = Task(arguments)
    val threads = task.number("threads")
    val pages = task.floats("x")
    val running = AtomicInteger()
    val most = AtomicInteger()
    val start = CyclicBarrier(threads)
    OrientationModel.loadBlocking(task.app, task.options).use { model ->
        val results = List(threads) { number ->
            val input = OrientationModel.Input(dynamicDimension0 = 1)
            repeat(PAGE) { input.x.put(it, pages.get(number * PAGE + it)) }
            val changed = AtomicInteger()
            val output = OrientationModel.Output()
            val worker = thread {
                start.await()
                var first: List<Float>? = null
                var done = 0
                // A thread may be late on a busy machine: the others go on until they have met.
                while (done < task.number("runs") || (most.get() < 2 && done < 1000)) {
                    done += 1
                    most.accumulateAndGet(running.incrementAndGet(), ::maxOf)
                    model.runBlocking(input, output)
                    running.decrementAndGet()
                    val values = List(output.fetchName0.capacity(), output.fetchName0::get)
                    if (first == null) first = values else if (values != first) changed.incrementAndGet()
                }
            }
            Triple(worker, output, changed)
        }
        results.forEachIndexed { number, (worker, output, changed) ->
            worker.join()
            task.write("fetch_name_0.$number", output.fetchName0)
            report("changed.$number", changed.get())
        }
        report("most at once", most.get())
    }
}
