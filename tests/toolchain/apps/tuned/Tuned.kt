package apps

import com.example.models.Chain
import com.example.models.Options
import com.example.models.Provider
import device.InstalledApp
import device.report
import java.io.File

/** Loads a model as it is, and as the app sets it, on a chip for which settings were measured. */
fun main(arguments: Array<String>) {
    val values = arguments.associate { it.substringBefore('=') to it.substringAfter('=') }
    val app = InstalledApp(apk = File(values.getValue("apk")), data = File(values.getValue("data")))
    val asked = mapOf(
        "usual" to Options(),
        "off" to Options(tuned = false),
        "own order" to Options(providers = listOf(Provider.NNAPI)),
        "own threads" to Options(threads = 1),
        "own setting" to Options(providerOptions = mapOf(Provider.XNNPACK to mapOf("own" to "1"))),
    )
    for ((name, options) in asked) {
        val applied = applied(options)
        report("$name.providers", applied.providers.joinToString())
        report("$name.threads", applied.threads)
        report("$name.options", applied.providerOptions)
    }
    Chain.loadBlocking(app).use { model ->
        report("provider", model.provider)
        report("fallbacks", model.fallbacks.joinToString { it.provider.toString() })
    }
}

private fun applied(options: Options): Options {
    val tuning = Class.forName("com.example.models.Tuning")
    val applied = tuning.getMethod("applied", Options::class.java, String::class.java)
    return applied.invoke(tuning.getField("INSTANCE").get(null), options, "chain") as Options
}
