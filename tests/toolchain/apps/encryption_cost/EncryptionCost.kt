package apps

import com.example.models.ModelKeys
import com.example.models.Options
import com.example.models.Plain
import com.example.models.Provider
import com.example.models.Scorer
import device.InstalledApp
import device.report
import java.io.File

private const val TIMES = 15

/** Loads a large model, readable or encrypted: how long that takes, and how much memory of its own the process has more. */
fun main(arguments: Array<String>) {
    val values = arguments.associate { it.substringBefore('=') to it.substringAfter('=') }
    val app = InstalledApp(File(values.getValue("apk")), File(values.getValue("data")))
    val key = File(values.getValue("key")).readBytes()
    val options = Options(providers = listOf(Provider.CPU), threads = 1, keys = ModelKeys { key })
    val isEncrypted = values.getValue("model") == "encrypted"
    val load: () -> AutoCloseable =
        { if (isEncrypted) Scorer.loadBlocking(app, options) else Plain.loadBlocking(app, options) }
    Plain.loadBlocking(app, options).close() // loads ONNX Runtime
    val before = anonymousBytes()
    val opened = load()
    report("megabytes", (anonymousBytes() - before) / 1e6)
    opened.close()
    val durations = List(TIMES) {
        val began = System.nanoTime()
        load().close()
        (System.nanoTime() - began) / 1e6
    }
    report("milliseconds", durations.min())
}

private fun anonymousBytes() =
    File("/proc/self/status").readLines().first { it.startsWith("RssAnon:") }.filter(Char::isDigit).toLong() * 1024
