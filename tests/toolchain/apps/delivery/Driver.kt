package apps

import android.app.ActivityManager
import android.app.ApplicationExitInfo
import android.content.ComponentCallbacks2
import android.net.ConnectivityManager
import android.os.BatteryManager
import android.os.PowerManager
import android.system.Os
import com.example.models.LoadEvent
import com.example.models.ModelMetrics
import com.example.models.ModelObserver
import com.example.models.ModelUpdater
import com.example.models.Options
import com.example.models.Scorer
import com.example.models.UpdateOptions
import com.example.models.UpdateState
import device.InstalledApp
import java.io.ByteArrayOutputStream
import java.io.File
import java.io.InputStream
import java.io.OutputStream
import java.lang.reflect.InvocationTargetException
import java.nio.ByteBuffer
import java.nio.channels.FileChannel
import java.util.Base64
import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.AtomicInteger
import kotlin.concurrent.thread
import kotlin.math.roundToLong
import kotlin.time.measureTimedValue
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.supervisorScope

/**
 * An app that updates its models: does what the lines of its standard input say, and answers each with a line of JSON.
 *
 * Arguments: the address of a channel, the folder for the app's private files, and the installed package.
 */
fun main(arguments: Array<String>) {
    val values = arguments.associate { it.substringBefore('=') to it.substringAfter('=') }
    val apk = values.getValue("apk")
    var driver = Driver(values.getValue("address"), File(values.getValue("folder")), File(apk))
    for (line in generateSequence(::readLine)) {
        val words = line.split(' ')
        val answer = try {
            if (words[0] == "device") {
                forgetFailures()
                driver = Driver(driver.address, File(words[1]), File(words.getOrElse(2) { apk }))
                emptyMap()
            } else {
                driver.answer(words[0], words.drop(1))
            }
        } catch (failure: Throwable) {
            mapOf("error" to failure.javaClass.simpleName, "message" to "${failure.message}")
        }
        println(jsonOf(answer))
    }
}

private class Driver(val address: String, folder: File, apk: File) {
    private val app = InstalledApp(apk, folder)
    private val metrics = ModelMetrics()
    private var updater = ModelUpdater(app, address, UpdateOptions(observer = metrics))
    private var loaded: Scorer? = null

    fun answer(command: String, words: List<String>): Map<String, Any?> {
        when (command) {
            "update" -> return states(runBlocking { updater.update(force = "force" in words) })
            "state" -> return states(updater.states.value)
            "state-of" -> return states(runBlocking { updater.states.first { it["scorer"]?.version == words[0] } })
            "state-while-locked" -> return states(whileFilesAreLocked { updater.states.value })
            "load" -> return load()
            "run" -> return mapOf("sum" to loaded!!.sum())
            "runs" -> return runBlocking(Dispatchers.Default) { runs(words[0].toInt(), words[1].toInt(), "update" in words) }
            "close" -> loaded?.close().also { loaded = null }
            "pressure" -> app.callbacks.forEach { it.onLowMemory() }
            "heat" -> PowerManager.status = if (words[0] == "hot") PowerManager.THERMAL_STATUS_SEVERE else 0
            "test" -> return loaded!!.selfTestBlocking().let { mapOf("passed" to it.passed, "outputs" to it.outputs.size) }
            "freeze" -> runBlocking { updater.freeze() }
            "unfreeze" -> runBlocking { updater.unfreeze() }
            "pin" -> runBlocking { updater.pin(words[0], words[1]) }
            "unpin" -> runBlocking { updater.unpin(words[0]) }
            "remove" -> runBlocking { updater.remove() }
            "limit" -> updater = ModelUpdater(app, address, UpdateOptions(storageLimitBytes = words[0].toLong(), observer = metrics))
            "patience" -> bePatient(words[0].toLong(), words[1].toLong())
            "metered" -> ConnectivityManager.isMetered = mapOf("yes" to true, "no" to false)[words[0]]
            "charging" -> BatteryManager.isOnPower = words[0] == "yes"
            "die" -> dieAt(words[0].toInt())
            "die-opening" -> isToDie = true
            "die-opening-left" -> {
                isToDie = true
                isToLeave = true
            }
            "memory" -> app.callbacks.forEach { it.onLowMemory() }
            "ended" -> ended(words[0].toInt(), words[1].toInt(), words[2].toInt())
            "importance" -> ActivityManager.importance = words[0].toInt()
            "bans" -> return mapOf("bans" to (metrics.snapshot()["scorer"]?.bans ?: 0))
            "delta" -> return mapOf("result" to patched(words[0], words[1], words[2].toLong()))
            "patch" -> patch(File(words[0]), File(words[1]), File(words[2]))
            else -> throw IllegalArgumentException("no command $command")
        }
        return emptyMap()
    }

    /** Changes how long downloads may take, which apps cannot. */
    private fun bePatient(documentMs: Long, fileMs: Long) {
        val number = Long::class.java
        val patience = Class.forName("com.example.models.Patience").getConstructor(number, number)
        val field = ModelUpdater::class.java.getDeclaredField("patience").apply { isAccessible = true }
        field.set(updater, patience.newInstance(documentMs, fileMs))
    }

    private fun load(): Map<String, Any?> {
        loaded?.close()
        var source = ""
        val observer = object : ModelObserver by metrics {
            override fun onLoad(event: LoadEvent) {
                // The model is open, and nobody has written that down.
                if (isToLeave) app.callbacks.forEach { (it as ComponentCallbacks2).onTrimMemory(UI_HIDDEN) }
                if (isToDie) Runtime.getRuntime().halt(KILLED)
                source = "${event.source}"
            }
        }
        val model = runBlocking { Scorer.load(app, Options(observer = observer), updater.source) }
        loaded = model
        return mapOf("version" to model.info.version, "source" to source, "sum" to model.sum())
    }

    /** Starts [count] runs of the open model at once, perhaps beside an update, and cancels [cancelled] of them. */
    private suspend fun runs(count: Int, cancelled: Int, isUpdating: Boolean): Map<String, Any?> = supervisorScope {
        val model = loaded!!
        val update = if (isUpdating) async { runCatching { updater.update(force = true) } } else null
        val running = List(count) { async { measureTimedValue { sumOf(model.run(input())) } } }
        running.take(cancelled).forEach { it.cancel() }
        val ended = running.map { runCatching { it.await() } }
        update?.await()
        val failures = ended.mapNotNull { it.exceptionOrNull() }.filter { it !is CancellationException }
        val answers = ended.mapNotNull { it.getOrNull() }
        mapOf(
            "sums" to answers.map { it.value }.distinct(),
            "answers" to answers.size,
            "errors" to failures.joinToString("; "),
            "slowest" to (answers.maxOfOrNull { it.duration.inWholeMilliseconds } ?: 0),
        )
    }

    private fun input(): Scorer.Input {
        val input = Scorer.Input()
        for (index in 0 until input.x.capacity()) input.x.put(index, index / 64f)
        return input
    }

    private fun Scorer.sum(): Double = sumOf(runBlocking(input()))

    private fun sumOf(output: Scorer.Output): Double {
        val scores = output.y
        return (0 until scores.capacity()).sumOf { scores.get(it).toDouble() }.let { (it * 1000).roundToLong() / 1000.0 }
    }

    private fun states(states: Map<String, UpdateState>) = mapOf(
        "states" to states.mapValues { (_, state) ->
            mapOf(
                "phase" to state.phase.name.lowercase().replace('_', '-'),
                "version" to state.version,
                "reason" to state.reason,
                "loaded" to state.loadedBytes,
                "total" to state.totalBytes,
            )
        },
    )

    companion object {
        /** Exit code of a process that was killed. */
        const val KILLED = 137

        /** Level of memory at which Android hides an app. */
        const val UI_HIDDEN = 20

        private var isToDie = false
        private var isToLeave = false

        /** What Android says of the end of [process], now. */
        private fun ended(process: Int, reason: Int, status: Int) {
            val end = ApplicationExitInfo(reason, status, System.currentTimeMillis())
            ActivityManager.ends[process] = listOf(end)
        }

        /** Ends the process at the durable write [number] from now on, before or after which nothing else happens. */
        private fun dieAt(number: Int) {
            val left = AtomicInteger(number)
            Os.onSync = { if (left.decrementAndGet() == 0) Runtime.getRuntime().halt(KILLED) }
        }
    }
}

/** Does [work] while another thread has the lock under which the library reads and writes its files. */
private fun <T> whileFilesAreLocked(work: () -> T): T {
    val lock = Class.forName("com.example.models.Checked").getDeclaredField("locking").apply { isAccessible = true }.get(null)
    val isLocked = CountDownLatch(1)
    val isDone = CountDownLatch(1)
    thread {
        synchronized(lock) {
            isLocked.countDown()
            isDone.await()
        }
    }
    isLocked.await()
    return work().also { isDone.countDown() }
}

/** What the library knows of this process: after this, it is a new start of the app. */
private fun forgetFailures() {
    val failed = Class.forName("com.example.models.UpdateStore").getDeclaredField("failed").apply { isAccessible = true }
    (failed.get(null) as MutableSet<*>).clear()
}

/** The result of a delta to a source, all in base64. */
private fun patched(source: String, delta: String, limitBytes: Long): String {
    val result = ByteArrayOutputStream()
    val bytes = ByteBuffer.wrap(Base64.getDecoder().decode(source))
    patch(bytes, Base64.getDecoder().decode(delta).inputStream(), result, limitBytes)
    return Base64.getEncoder().encodeToString(result.toByteArray())
}

private fun patch(source: File, delta: File, result: File) = source.inputStream().channel.use { opened ->
    val bytes = opened.map(FileChannel.MapMode.READ_ONLY, 0, source.length())
    delta.inputStream().use { from -> result.outputStream().use { patch(bytes, from, it, Long.MAX_VALUE) } }
}

/** Calls the library's own patcher, which apps cannot call. */
private fun patch(source: ByteBuffer, delta: InputStream, result: OutputStream, limitBytes: Long) {
    val patcher = Class.forName("com.example.models.Delta")
    val types = arrayOf(ByteBuffer::class.java, InputStream::class.java, OutputStream::class.java, Long::class.java)
    try {
        patcher.getMethod("apply", *types).invoke(patcher.getField("INSTANCE").get(null), source, delta, result, limitBytes)
    } catch (failure: InvocationTargetException) {
        throw failure.targetException
    }
}

private fun jsonOf(value: Any?): String = when (value) {
    is Map<*, *> -> value.entries.joinToString(",", "{", "}") { "${jsonOf("${it.key}")}:${jsonOf(it.value)}" }
    is String -> value.map(::escaped).joinToString("", "\"", "\"")
    else -> "$value"
}

private fun escaped(each: Char) = if (each == '"' || each == '\\') "\\$each" else if (each < ' ') " " else "$each"
