package dev.mobpack.device

import ai.onnxruntime.OrtException
import java.io.File
import java.io.IOException
import java.io.RandomAccessFile

/** The model that is open, if there is one. [home] is mobpack's folder on the device. */
internal class Models(private val home: String) {
    private var opened: OpenModel? = null

    fun answer(request: Request): String = when (request.verb) {
        "describe" -> describe(request)
        "open" -> open(request)
        "run" -> run(request)
        "time" -> time(request)
        "self-test" -> model().selfTest()
        "close" -> json().also { close() }
        else -> throw IllegalArgumentException("unknown request: ${request.verb}")
    }

    private fun model() = checkNotNull(opened) { "no model is open" }

    private fun close() {
        opened?.close()
        opened = null
    }

    private fun describe(request: Request): String =
        json("models" to request.text("classes").split(',').mapNotNull(PackagedClass::of).map(PackagedClass::about))

    private fun open(request: Request): String {
        close()
        val base = Process.resident()
        val began = System.nanoTime()
        val model = if (request.has("class")) PackagedModel.open(request, home) else FileModel.open(request)
        val took = System.nanoTime() - began
        opened = model
        return json(*model.about().toTypedArray(), "load_ns" to took, "base_bytes" to base)
    }

    private fun run(request: Request): String {
        val feed = Feed.of(request)
        val written = mutableListOf<Map<String, Any>>()
        try {
            RandomAccessFile(request.text("outputs"), "rw").use { file ->
                file.setLength(0)
                model().run(feed) { written += Values.append(it, file) }
            }
        } catch (failure: OrtException) {
            return json("error" to inWords(failure))
        } catch (failure: IOException) {
            return json("full" to inWords(failure))
        }
        return json("error" to "", "outputs" to written)
    }

    private fun time(request: Request): String {
        val feed = Feed.of(request)
        val pace = Pace.of(request)
        val model = model()
        try {
            val first = timed { model.run(feed) {} }
            val warmUp = pace.warmedUp { model.run(feed) {} }
            val before = Process.cpuNanoseconds()
            val times = pace.repeated { model.run(feed) {} }
            return json(
                "error" to "",
                "first_ns" to first,
                "warm_up_ns" to warmUp,
                "times_ns" to times,
                "cpu_ns" to Process.cpuNanoseconds()?.let { now -> before?.let { now - it } },
                "peak_bytes" to Process.status("VmHWM"),
                "pss_bytes" to Process.pss(),
                "mapped_bytes" to Process.mapped(File(home).canonicalPath),
            )
        } catch (failure: OrtException) {
            return json("error" to inWords(failure))
        }
    }
}

/** A model that runs; closing it frees its memory. */
internal interface OpenModel : AutoCloseable {
    fun about(): List<Pair<String, Any?>>

    /** Runs the model; [take] gets every output while it is valid. Throws OrtException where ONNX Runtime refuses. */
    fun run(feed: Feed, take: (Output) -> Unit)

    fun selfTest(): String
}

/** How much is run for one round of times. */
internal class Pace(
    private val warmUpSeconds: Double,
    private val seconds: Double,
    private val runs: Int,
    private val leastRuns: Int,
) {
    /** Times of runs until two windows of them have about equal medians, or the time for it is over. */
    fun warmedUp(run: () -> Unit): List<Long> {
        val times = mutableListOf<Long>()
        val end = System.nanoTime() + (warmUpSeconds * NS).toLong()
        while (!isStable(times)) {
            times += timed(run)
            if (System.nanoTime() >= end) break
        }
        return times
    }

    fun repeated(run: () -> Unit): List<Long> {
        val times = mutableListOf<Long>()
        val end = System.nanoTime() + (seconds * NS).toLong()
        while (times.size < runs && (times.size < leastRuns || System.nanoTime() < end)) times += timed(run)
        return times
    }

    private fun isStable(times: List<Long>): Boolean {
        if (times.size < 2 * WINDOW) return false
        val before = middle(times.takeLast(2 * WINDOW).take(WINDOW))
        return kotlin.math.abs(middle(times.takeLast(WINDOW)) - before) <= STABLE * before
    }

    private fun middle(times: List<Long>) = times.sorted()[times.size / 2]

    companion object {
        private const val NS = 1e9
        private const val WINDOW = 5
        private const val STABLE = 0.05

        fun of(request: Request) = Pace(
            warmUpSeconds = request.number("warm-up-seconds"),
            seconds = request.number("seconds"),
            runs = request.number("runs").toInt(),
            leastRuns = request.number("least-runs").toInt(),
        )
    }
}

internal inline fun timed(run: () -> Unit): Long {
    val began = System.nanoTime()
    run()
    return System.nanoTime() - began
}

/** Linux's numbers about this process; null where it does not tell. */
internal object Process {
    private const val TICK_NS = 10_000_000L
    private const val USER = 11
    private const val SYSTEM = 12
    private const val KIB = 1024L

    fun resident(): Long? = status("VmRSS")

    /** Bytes of an entry of its status. */
    fun status(key: String): Long? = lines("status").firstNotNullOfOrNull { kibibytes(it, key) }

    /** Its share of all memory that it uses: pages that others use, too, count in part. */
    fun pss(): Long? {
        val found = lines("smaps_rollup").mapNotNull { kibibytes(it, "Pss") }.ifEmpty {
            lines("smaps").mapNotNull { kibibytes(it, "Pss") }
        }
        return if (found.isEmpty()) null else found.sum()
    }

    /** Bytes of the files below [folder] that are mapped, but libraries and classes. */
    fun mapped(folder: String): Long = lines("maps").filter { "$folder/files/" in it }.sumOf { line ->
        val (from, to) = line.substringBefore(' ').split('-').map { it.toULong(16).toLong() }
        to - from
    }

    /** Time of all its threads on processors, in steps of 10 ms. */
    fun cpuNanoseconds(): Long? {
        val fields = lines("stat").firstOrNull()?.substringAfterLast(')')?.trim()?.split(' ') ?: return null
        return (fields[USER].toLong() + fields[SYSTEM].toLong()) * TICK_NS
    }

    private fun kibibytes(line: String, key: String): Long? =
        if (line.startsWith("$key:")) line.filter(Char::isDigit).toLongOrNull()?.times(KIB) else null

    private fun lines(name: String): List<String> = try {
        File("/proc/self", name).readLines()
    } catch (unreadable: IOException) {
        emptyList()
    }
}
