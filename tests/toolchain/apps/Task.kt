package apps

import com.example.models.Fallback
import com.example.models.Info
import com.example.models.Options
import com.example.models.Provider
import com.example.models.ProviderAssignment
import com.example.models.Verify
import device.InstalledApp
import device.report
import java.io.File
import java.io.IOException
import java.nio.ByteBuffer
import java.nio.ByteOrder
import java.nio.FloatBuffer
import java.nio.LongBuffer

/**
 * What a test gives to an app, as `name=value` arguments: the installed `apk`, the folder for its private `data`, a
 * folder of `files` to exchange numbers through (raw, little-endian), and perhaps the `providers` to try and how to `verify`.
 */
class Task(arguments: Array<String>) {
    private val values = arguments.associate { it.substringBefore('=') to it.substringAfter('=') }
    private val files = File(values.getValue("files"))

    val app = InstalledApp(apk = File(values.getValue("apk")), data = File(values.getValue("data")))

    /** Those of the package but for what the test names. */
    val options: Options = Options().let { usual ->
        usual.copy(
            providers = values["providers"]?.split(',')?.map(Provider::valueOf) ?: usual.providers,
            verify = values["verify"]?.let(Verify::valueOf) ?: usual.verify,
        )
    }

    fun number(name: String): Int = values.getValue(name).toInt()

    fun has(name: String): Boolean = name in values

    fun text(name: String): String = values.getValue(name)

    fun folder(name: String): File = File(files, name)

    fun bytes(name: String): ByteBuffer =
        ByteBuffer.wrap(File(files, name).readBytes()).order(ByteOrder.LITTLE_ENDIAN)

    fun floats(name: String): FloatBuffer = bytes(name).asFloatBuffer()

    fun longs(name: String): LongBuffer = bytes(name).asLongBuffer()

    fun write(name: String, values: FloatBuffer) {
        val target = ByteBuffer.allocate(values.remaining() * Float.SIZE_BYTES).order(ByteOrder.LITTLE_ENDIAN)
        target.asFloatBuffer().put(values)
        write(name, target)
    }

    fun write(name: String, values: ByteBuffer) {
        File(files, name).writeBytes(ByteArray(values.remaining()).also { values.get(it) })
    }
}

/** Reports what every generated class says of itself. */
fun reportModel(
    provider: Provider,
    fallbacks: List<Fallback>,
    info: Info,
    assignment: List<ProviderAssignment>? = null,
) {
    report("assignment", assignment?.joinToString(",") { "${it.provider} ${it.nodes} ${it.macs}" })
    report("reasons", fallbacks.joinToString("|") { "${it.provider}: ${it.reason}" })
    report("provider", provider)
    report("fallbacks", fallbacks.joinToString(",") { it.provider.name })
    report("info.name", info.name)
    report("info.version", info.version)
    report("info.sha256", info.sha256)
    report("info.sizeBytes", info.sizeBytes)
    report("info.onnxRuntimeVersion", info.onnxRuntimeVersion)
}

/** True when a part of [file] is mapped into this process. */
fun isMapped(file: String): Boolean = File("/proc/self/maps").readLines().any { it.endsWith(file) }

/** Does [work] and reports how long it took, for people: no test depends on it. */
fun <T> timed(name: String, work: () -> T): T {
    val start = System.nanoTime()
    return work().also { report("$name.ms", (System.nanoTime() - start) / 1_000_000) }
}

/** This one and those that native code has begun on it, which have its name, unlike Java's own. */
fun nativeThreads(): Int {
    val name = File("/proc/thread-self/comm").readText()
    return File("/proc/self/task").listFiles().orEmpty().count { nameOf(it) == name }
}

/** [nativeThreads], once there are no more than [most]: a thread that has ended is there a little longer. */
fun nativeThreads(most: Int): Int {
    val end = System.nanoTime() + 60_000_000_000
    while (nativeThreads() > most && System.nanoTime() < end) Thread.sleep(10)
    return nativeThreads()
}

/** Null for a thread that has ended since it was listed. */
private fun nameOf(thread: File): String? = try {
    File(thread, "comm").readText()
} catch (ended: IOException) {
    null
}

/**
 * Repeats [attempt], with waits of 1, 2, 4 and more milliseconds, until it says that it met work under way; whether it
 * did. Nothing tells when another thread begins its work, and a wait that is right on an idle machine is not on a busy one.
 */
suspend fun untilMet(attempt: suspend (Long) -> Boolean): Boolean {
    repeat(40) { if (attempt(1L shl it % 10)) return true }
    return false
}
