package apps

import com.example.models.SileroVad
import device.report
import java.lang.management.BufferPoolMXBean
import java.lang.management.ManagementFactory
import java.util.concurrent.CountDownLatch
import kotlin.coroutines.Continuation
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.coroutines.startCoroutine

/** Runs a model of fixed sizes again and again, waiting or not. */
fun main(arguments: Array<String>) {
    val task = Task(arguments)
    SileroVad.loadBlocking(task.app, task.options).use { model ->
        val input = SileroVad.Input()
        input.sr.put(0, 16_000)
        input.input.put(task.floats("audio"))
        val output = SileroVad.Output()
        val memory = output.output

        model.warmUpBlocking(input, runs = 2)
        report("first", model.runBlocking(input, output).output.get(0))
        val before = directBuffers()
        repeat(50) { model.runBlocking(input, output) }
        report("buffers made by 50 runs into one output", directBuffers() - before)
        report("same buffer", output.output === memory)
        val kept = List(5) { model.runBlocking(input) }
        report("buffers made by 5 runs into new outputs", directBuffers() - before)
        report("again", kept.last().output.get(0))

        val asynchronous = List(3) { SileroVad.Output() }
        val done = CountDownLatch(3)
        for (each in asynchronous) {
            suspend { model.run(input, each) }
                .startCoroutine(Continuation(EmptyCoroutineContext) { done.countDown() })
        }
        done.await()
        report("asynchronous", asynchronous.joinToString(",") { it.output.get(0).toString() })
        val threads = Thread.getAllStackTraces().keys.filter { it.isDaemon }.map { it.name }
        report("asynchronous has a thread of its own", "SileroVad" in threads)
    }
}

private fun directBuffers(): Long =
    ManagementFactory.getPlatformMXBeans(BufferPoolMXBean::class.java).single { it.name == "direct" }.count
