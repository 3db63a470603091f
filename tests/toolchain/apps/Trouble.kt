package apps

import android.content.ComponentCallbacks2
import android.os.PowerManager
import com.example.models.FailureEvent
import com.example.models.LoadEvent
import com.example.models.Minilm
import com.example.models.ModelObserver
import com.example.models.Options
import com.example.models.OrientationModel
import com.example.models.Policies
import com.example.models.Provider
import com.example.models.ReleaseEvent
import com.example.models.RunEvent
import com.example.models.SileroVad
import com.example.models.Source
import device.report
import device.reportFailure
import java.io.File
import java.nio.ByteBuffer
import java.util.Collections
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.delay
import kotlinx.coroutines.runBlocking

/** Runs models on a provider that fails, on a hot device, and without memory. */
fun main(arguments: Array<String>) {
    val task = Task(arguments)
    when (task.text("do")) {
        "provider" -> provider(task)
        "input" -> input(task)
        "heat" -> heat(task)
        "memory" -> memory(task)
        "lost" -> lost(task)
    }
}

private class Events : ModelObserver {
    private val events: MutableList<String> = Collections.synchronizedList(mutableListOf())

    /** Of the last load. */
    @Volatile
    var fallbacks = ""

    /** Done as soon as a run was repeated. */
    var onRetry: () -> Unit = {}

    override fun onLoad(event: LoadEvent) {
        fallbacks = event.fallbacks.joinToString()
        keep("load ${event.provider}")
    }

    override fun onFailure(event: FailureEvent) = keep("failure ${event.model}")

    override fun onRun(event: RunEvent) {
        keep("${if (event.isRetry) "retry" else "run"} ${event.provider}${if (event.error == null) "" else " failed"}")
        if (event.isRetry) onRetry()
    }

    override fun onRelease(event: ReleaseEvent) = keep("release ${event.reason}")

    /** What was heard since the last call. */
    fun since(): String = synchronized(events) { events.joinToString(",").also { events.clear() } }

    private fun keep(event: String) {
        events += event
    }
}

private fun page() = OrientationModel.Input(dynamicDimension0 = 1).also { input ->
    for (index in 0 until input.x.capacity()) input.x.put(index, (index % 255) / 255f)
}

private fun OrientationModel.answer() = runBlocking(page()).fetchName0.let { answer -> List(answer.capacity()) { answer.get(it) } }

private fun usual(task: Task) =
    OrientationModel.loadBlocking(task.app, Options(listOf(Provider.CPU))).use { report("usual", it.answer()) }

/** A model whose sizes are all fixed, as NNAPI wants them. */
private fun SileroVad.speech(): Float {
    val input = SileroVad.Input()
    for (index in 0 until input.input.capacity()) input.input.put(index, (index % 40 - 20) / 20f)
    input.sr.put(0, 16_000)
    return runBlocking(input).output.get(0)
}

private fun provider(task: Task) {
    SileroVad.loadBlocking(task.app, Options(listOf(Provider.CPU))).use { report("usual", it.speech()) }
    val events = Events()
    val options = Options(listOf(Provider.NNAPI), observer = events)
    SileroVad.loadBlocking(task.app, options).use { model ->
        report("loaded", events.since())
        report("asset", model.info.asset)
        reportFailure("selfTest") { model.selfTestBlocking() }
        report("selfTest.events", events.since())
        repeat(4) { number ->
            report("answer.$number", model.speech())
            report("events.$number", events.since())
            report("provider.$number", model.provider)
        }
        report("fallbacks", model.fallbacks.joinToString())
        report("asset later", model.info.asset)
        (task.app.callbacks.single() as ComponentCallbacks2).onTrimMemory(80)
        model.speech()
        report("again", events.since())
        report("fallbacks again", events.fallbacks)
    }
    report("closed", events.since())
    SileroVad.loadBlocking(task.app, options.copy(policies = Policies(retryOnCpu = false))).use { model ->
        reportFailure("refused") { model.speech() }
        report("refused.events", events.since())
        report("refused.provider", model.provider)
    }
    freed(task)
    retriedWhenHot(task)
}

/** The threads of a session for retries on a hot device, beside those of the usual one. */
private fun retriedWhenHot(task: Task) {
    val before = nativeThreads()
    PowerManager.status = PowerManager.THERMAL_STATUS_SEVERE
    SileroVad.loadBlocking(task.app, Options(listOf(Provider.NNAPI), spinning = true)).use { model ->
        report("usual.threads", nativeThreads() - before)
        model.speech()
        report("hot.threads", nativeThreads() - before)
    }
    PowerManager.status = 0
}

/** The session for retries is freed as soon as it has done the third, and cannot be opened again then. */
private fun freed(task: Task) {
    val events = Events()
    val own = Own(task)
    SileroVad.loadBlocking(task.app, Options(listOf(Provider.NNAPI), observer = events), own.source).use { model ->
        repeat(2) { model.speech() }
        events.since()
        events.onRetry = {
            task.lowMemory()
            own.lose()
        }
        reportFailure("freed") { report("freed.answer", model.speech()) }
        report("freed.events", events.since())
        report("freed.provider", model.provider)
        events.onRetry = {}
        own.bring()
        report("freed.next", model.speech())
        report("freed.next.events", events.since())
        report("freed.next.provider", model.provider)
    }
}

/** A model of the app's own in memory, from which it may be lost. ONNX Runtime has a copy of what it has opened. */
private class Own(task: Task) {
    private val content = File(task.text("own")).readBytes()
    private val bytes = ByteBuffer.allocateDirect(content.size)
    val source: Source

    init {
        bring()
        source = Source.bytes(bytes)
    }

    fun bring() = put(content)

    fun lose() = put(ByteArray(content.size))

    private fun put(content: ByteArray) {
        bytes.duplicate().put(content)
    }
}

private fun Task.lowMemory() = app.callbacks.forEach { it.onLowMemory() }

/** A run that fails on the CPU as well, which is not the provider's fault. */
private fun input(task: Task) {
    val events = Events()
    Minilm.loadBlocking(task.app, Options(listOf(Provider.XNNPACK), observer = events)).use { model ->
        val wrong = Minilm.Input(sequence = 4)
        wrong.inputIds.put(0, 1_000_000)
        events.since()
        repeat(4) { reportFailure("wrong") { model.runBlocking(wrong) } }
        report("events", events.since())
        report("provider", model.provider)
        val failure = runCatching { model.runBlocking(wrong) }.exceptionOrNull()
        report("first failure", failure?.suppressed?.singleOrNull()?.javaClass?.name)
    }
    sessions(task)
}

/** The threads of the session that a wrong input has opened, before and after the next right one. */
private fun sessions(task: Task) {
    Minilm.loadBlocking(task.app, Options(listOf(Provider.XNNPACK), spinning = true)).use { model ->
        val (right, wrong) = List(2) { Minilm.Input(sequence = 4) }
        wrong.inputIds.put(0, 1_000_000)
        model.runBlocking(right)
        val usual = nativeThreads()
        reportFailure("wrong again") { model.runBlocking(wrong) }
        report("opened by a wrong input", nativeThreads() - usual)
        model.runBlocking(right)
        report("after a right one", nativeThreads(usual) - usual)
    }
}

private fun heat(task: Task) {
    usual(task)
    val events = Events()
    val before = nativeThreads()
    // Spinning threads are the model's own, and so can be counted.
    val options = Options(listOf(Provider.CPU), spinning = true, observer = events)
    becomesHot(task, options, events).use { model ->
        val coolThreads = nativeThreads() - before
        report("cool.threads", coolThreads)
        val asked = PowerManager.asked
        val began = System.nanoTime()
        Thread.sleep(1100)
        report("hot", model.answer())
        report("hot.threads", nativeThreads(before + coolThreads - 1) - before)
        report("hot.events", events.since())
        repeat(20) { model.answer() }
        report("asked", PowerManager.asked - asked)
        report("asked.seconds", (System.nanoTime() - began) / 1e9)
        PowerManager.status = 0
        model.later(events, "cool too soon")
        model.mayChangeAgain()
        PowerManager.status = PowerManager.THERMAL_STATUS_MODERATE
        model.later(events, "warm")
        PowerManager.status = 0
        Thread.sleep(1100)
        events.since()
        report("cool again", model.answer())
        report("cool again.threads", nativeThreads() - before)
        report("cool again.events", events.since())
    }
    PowerManager.status = PowerManager.THERMAL_STATUS_SEVERE
    OrientationModel.loadBlocking(task.app, options.copy(threads = 2)).use { model ->
        events.since()
        model.answer()
        report("with threads of the app's own", events.since())
    }
    PowerManager.status = 0
}

/** What a run does when Android is asked again. */
private fun OrientationModel.later(events: Events, name: String) {
    Thread.sleep(1100)
    events.since()
    answer()
    report("$name.events", events.since())
}

/** As if a minute had passed. */
private fun OrientationModel.mayChangeAgain() {
    var each: Any = this
    for (name in listOf("session", "sessions", "heat")) {
        val kinds = generateSequence<Class<*>>(each.javaClass) { it.superclass }
        val field = kinds.firstNotNullOf { kind -> kind.declaredFields.find { it.name == name } }
        each = field.apply { isAccessible = true }.get(each)
    }
    each.javaClass.getDeclaredField("leastNs").apply { isAccessible = true }.setLong(each, 0)
}

/** A model on a device that became hot less than a second after it was asked; where it was asked again, once more. */
private fun becomesHot(task: Task, options: Options, events: Events): OrientationModel {
    repeat(20) { attempt ->
        events.since()
        PowerManager.status = 0
        val model = OrientationModel.loadBlocking(task.app, options)
        val cool = model.answer()
        PowerManager.status = PowerManager.THERMAL_STATUS_SEVERE
        val asked = PowerManager.asked
        val atOnce = model.answer()
        if (PowerManager.asked == asked || attempt == 19) {
            report("cool", cool)
            report("at once", "$atOnce ${events.since()}")
            return model
        }
        model.close()
    }
    error("no attempt was the last")
}

private fun memory(task: Task) = runBlocking {
    usual(task)
    val events = Events()
    val model = OrientationModel.loadBlocking(task.app, Options(listOf(Provider.CPU), observer = events))
    val system = task.app.callbacks.single() as ComponentCallbacks2
    events.since()
    for (level in listOf(5, 10, 15, 20, 40, 80)) {
        system.onTrimMemory(level)
        report("released.$level", events.since())
        report("answer.$level", model.answer())
        report("opened.$level", events.since())
    }
    system.onLowMemory()
    system.onLowMemory()
    report("released twice", events.since())
    report("after release", "${model.provider} ${model.info.name}")
    model.answer()
    events.since()
    val many = OrientationModel.Input(dynamicDimension0 = 24)
    val isKept = untilMet { wait ->
        model.answer() // opens the session, if there is none
        events.since()
        val running = async(Dispatchers.Default, CoroutineStart.UNDISPATCHED) { model.run(many) }
        delay(wait)
        system.onLowMemory()
        val heard = events.since()
        (running.isActive && heard == "").also { running.await() }
    }
    report("kept while it runs", isKept)
    model.answer()
    events.since()
    system.onLowMemory()
    model.close()
    report("closed", events.since())
    report("callbacks after close", task.app.callbacks.size)
    reportFailure("run after close") { model.answer() }
    val off = Options(policies = Policies(releaseOnMemoryPressure = false))
    OrientationModel.loadBlocking(task.app, off.copy(providers = listOf(Provider.CPU))).use {
        report("callbacks without the policy", task.app.callbacks.size)
    }
}

/** A model that cannot be opened again: by a run on a hot device, which has another session, and by one that has none. */
private fun lost(task: Task) {
    val events = Events()
    val own = Own(task)
    val options = Options(listOf(Provider.CPU), observer = events)
    OrientationModel.loadBlocking(task.app, options, own.source).use { model ->
        report("usual", model.answer())
        events.since()
        own.lose()
        PowerManager.status = PowerManager.THERMAL_STATUS_SEVERE
        Thread.sleep(1100)
        reportFailure("hot") { report("hot.answer", model.answer()) }
        report("hot.events", events.since())
        reportFailure("still hot") { model.answer() }
        report("still hot.events", events.since())
        task.lowMemory()
        events.since()
        reportFailure("gone") { model.answer() }
        report("gone.events", events.since())
        reportFailure("profile") { model.profileBlocking(page()) }
        events.since()
        own.bring()
        report("back", model.answer())
        report("back.events", events.since())
    }
    PowerManager.status = 0
}
