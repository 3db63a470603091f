package apps

import android.util.Log
import com.example.models.FailureEvent
import com.example.models.LoadEvent
import com.example.models.Minilm
import com.example.models.ModelMetrics
import com.example.models.ModelObserver
import com.example.models.Options
import com.example.models.OrientationModel
import com.example.models.Provider
import com.example.models.ReleaseEvent
import com.example.models.RunEvent
import com.example.models.Source
import device.report
import device.reportFailure
import java.io.File
import java.util.Collections
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.runBlocking

/** Loads, runs and closes models under an observer, and tells what it heard. */
fun main(arguments: Array<String>) {
    val task = Task(arguments)
    heard(task)
    counted(task)
    broken(task)
    percentiles(task)
    retried()
    report("abstract", ModelObserver::class.java.methods.filterNot { it.isDefault }.map { it.name })
    OrientationModel.loadBlocking(task.app, task.options).use { model ->
        val trace = model.profileBlocking(OrientationModel.Input(dynamicDimension0 = 1), runs = 3)
        report("trace", trace)
        report("trace.folder", trace.parentFile == task.app.getCacheDir())
    }
}

private class Heard : ModelObserver {
    val events: MutableList<Any> = Collections.synchronizedList(mutableListOf())

    override fun onLoad(event: LoadEvent) = keep(event)

    override fun onFailure(event: FailureEvent) = keep(event)

    override fun onRun(event: RunEvent) = keep(event)

    override fun onRelease(event: ReleaseEvent) = keep(event)

    private fun keep(event: Any) {
        events += event
    }
}

private fun heard(task: Task) {
    val heard = Heard()
    val options = Options(listOf(Provider.QNN, Provider.CPU), observer = heard)
    Minilm.loadBlocking(task.app, options).use { model ->
        model.runBlocking(Minilm.Input(sequence = 4))
        val wrong = Minilm.Input(sequence = 4)
        wrong.inputIds.put(0, 1_000_000)
        runCatching { model.runBlocking(wrong) }
        runBlocking {
            val inputs = List(3) { Minilm.Input(sequence = 64) }
            val began = System.nanoTime()
            val calls = inputs.map { async(start = CoroutineStart.UNDISPATCHED) { model.run(it) } }
            report("asked", (System.nanoTime() - began) / 1e9)
            calls.awaitAll()
        }
    }
    runCatching { Minilm.loadBlocking(task.app, options, Source.folder(File("/nothing"))) }
    report("events", heard.events.joinToString(",") { it.javaClass.simpleName })
    val load = heard.events.filterIsInstance<LoadEvent>().single()
    report("load", "${load.model} ${load.version} ${load.provider} ${load.fallbacks.map { it.provider }} ${load.source}")
    report("load.sizeBytes", load.sizeBytes)
    report("load.duration", load.duration)
    report("load.memoryBytes", load.memoryBytes)
    val runs = heard.events.filterIsInstance<RunEvent>()
    report("runs", runs.joinToString(",") { "${it.model} ${it.provider} ${it.error?.javaClass?.simpleName}" })
    report("runs.duration", runs.joinToString(",") { it.duration.toString() })
    report("runs.queued", runs.joinToString(",") { it.queued.toString() })
    report("failure", heard.events.filterIsInstance<FailureEvent>().single().error.message)
}

private fun counted(task: Task) {
    val metrics = ModelMetrics()
    OrientationModel.loadBlocking(task.app, task.options.copy(observer = metrics)).use { model ->
        val input = OrientationModel.Input(dynamicDimension0 = 1)
        List(4) { Thread { repeat(5) { model.runBlocking(input) } }.apply { start() } }.forEach(Thread::join)
        reportFailure("after a run that is refused") { model.runBlocking(OrientationModel.Input(dynamicDimension0 = -1)) }
    }
    val found = metrics.snapshot().getValue("orientation")
    report("counted", "${found.loads} ${found.runs} ${found.errors} ${found.duration.count}")
    report("attributes", found.attributes().entries.joinToString("\n") { "${it.key}=${it.value}" })
    report("throughput", found.throughput)
    report("least", found.duration.min)
}

/** An observer that fails, which must end nothing. */
private fun broken(task: Task) {
    val failing = object : ModelObserver {
        override fun onRun(event: RunEvent): Unit = error("broken observer")
    }
    OrientationModel.loadBlocking(task.app, task.options.copy(observer = failing)).use { model ->
        report("ran", model.runBlocking(OrientationModel.Input(dynamicDimension0 = 1)).fetchName0.capacity())
    }
    report("log", Log.lines.joinToString("\n"))
}

/** Percentiles of times that the test gives. */
private fun percentiles(task: Task) {
    val metrics = ModelMetrics()
    val seconds = task.floats("seconds")
    for (index in 0 until seconds.capacity()) {
        metrics.onRun(ran(Provider.CPU, seconds.get(index).toDouble()))
    }
    val found = metrics.snapshot().getValue("model").duration
    report("percentiles", "${found.p50} ${found.p90} ${found.p99}")
    report("extremes", "${found.min} ${found.max} ${found.mean}")
}

/** A run that failed after a minute, was repeated on a session for the CPU, opened then, and the next one. */
private fun retried() {
    val metrics = ModelMetrics()
    fun provider() = metrics.snapshot().getValue("model").provider
    metrics.onLoad(loaded(Provider.NNAPI))
    report("provider.loaded", provider())
    metrics.onRun(ran(Provider.NNAPI, 60.0, IllegalStateException("the GPU is gone")))
    metrics.onLoad(loaded(Provider.CPU))
    metrics.onRun(RunEvent("model", Provider.CPU, 0.0, 0.002, null, isRetry = true))
    metrics.onRun(ran(Provider.CPU, 60.0, CancellationException("the run was cancelled")))
    metrics.onFailure(FailureEvent("model", CancellationException("the load was cancelled"), 1.0))
    report("provider.retried", provider())
    metrics.onRun(ran(Provider.NNAPI, 0.001))
    report("provider.later", provider())
    metrics.onRun(ran(Provider.CPU, 60.0, IllegalStateException("a wrong input")))
    report("provider.failed", provider())
    val found = metrics.snapshot().getValue("model")
    report("retried", "${found.runs} ${found.errors} ${found.retries} ${found.duration.count} ${found.duration.max}")
    report("retried.queued", "${found.queued.count} ${found.failures}")
}

private fun loaded(provider: Provider) =
    LoadEvent("model", "1.0.0", provider, emptyList(), Source.bundled, 1, 1.0, null)

private fun ran(provider: Provider, duration: Double, error: Exception? = null) =
    RunEvent("model", provider, 0.0, duration, error, isRetry = false)
