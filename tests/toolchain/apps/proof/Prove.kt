package apps

import android.app.ActivityManager
import android.app.ApplicationExitInfo
import com.example.models.LiarNet
import com.example.models.Options
import com.example.models.Proof
import com.example.models.Provider
import com.example.models.Source
import device.InstalledApp
import device.report
import java.io.File
import java.util.concurrent.CountDownLatch
import java.util.concurrent.Executors
import kotlin.concurrent.thread

/** Loads a model with each of the `behaviours` of its provider, on a device of its own, and reports what it decided. */
fun main(arguments: Array<String>) {
    val values = arguments.associate { it.substringBefore('=') to it.substringAfter('=') }
    if (values["stopped"] == "True") {
        val end = ApplicationExitInfo(ApplicationExitInfo.REASON_USER_REQUESTED, 0, System.currentTimeMillis())
        ActivityManager.ends[0] = listOf(end)
    }
    for (behaviour in values.getValue("behaviours").split(',')) {
        val app = InstalledApp(apk = File(values.getValue("apk")), data = File(values.getValue("data"), behaviour))
        val options = Options(
            providers = listOf(Provider.LIAR),
            providerOptions = mapOf(Provider.LIAR to mapOf("behaviour" to behaviour)),
            proof = Proof(inBackground = values["background"] == "True"),
        )
        if (values["background"] == "True") {
            // The first load of a device opens the CPU; a later one what was proved behind it.
            val first = LiarNet.loadBlocking(app, options).use { it.provider to it.info.proofs.single().reason }
            report("$behaviour.first", "${first.first} ${first.second}")
            while (LiarNet.loadBlocking(app, options).use { "in the background" in it.info.proofs.single().reason }) Thread.sleep(50)
        }
        val patient = options.copy(proof = Proof(limit = 60.0))
        val data = File(values.getValue("data"), behaviour)
        when (values["how"]) {
            "together" -> report("$behaviour.together", together { LiarNet.loadBlocking(app, patient) })
            "cancelled" -> report("$behaviour.cancelled", cancelled(data) { LiarNet.loadBlocking(app, patient, Source.bundled) {} })
            "own file" -> ownFile(app, data, patient)
        }
        LiarNet.loadBlocking(app, options).use { model ->
            report("$behaviour.provider", model.provider)
            report("$behaviour.fallbacks", model.fallbacks.joinToString("|") { it.reason })
            val found = model.info.proofs.single()
            report("$behaviour.proof", "${found.provider} ${found.isProved}")
            report("$behaviour.reason", found.reason)
            report("$behaviour.seconds", found.seconds)
            report("$behaviour.cpu", found.cpuSeconds)
            report("$behaviour.passed", model.selfTestBlocking().passed)
        }
    }
    // Another of Java's threads may wait for the provider that hangs.
    Runtime.getRuntime().halt(0)
}

/** The verdicts of loads that begin at once, each once: with their times, which no two proofs share. */
private fun together(load: () -> LiarNet): String {
    val gate = CountDownLatch(LOADS)
    val pool = Executors.newFixedThreadPool(LOADS)
    val loads = List(LOADS) {
        pool.submit<String> {
            gate.countDown()
            gate.await()
            load().use { "${it.provider} ${it.info.proofs.single()}" }
        }
    }
    return loads.map { it.get() }.distinct().joinToString("|").also { pool.shutdown() }
}

/** Interrupts a load as soon as its proof is on record: how it ended, and what the record has then. */
private fun cancelled(data: File, load: () -> LiarNet): String {
    fun record() = data.walk().find { it.parentFile.name == "proofs" && it.extension == "json" }?.readText().orEmpty()
    var end = "loaded"
    val loading = thread {
        try {
            load().close()
        } catch (interrupted: InterruptedException) {
            end = "interrupted"
        }
    }
    while ("trying" !in record()) Thread.sleep(10)
    loading.interrupt()
    loading.join()
    return "$end ${record()}"
}

/** A file of the app's own has no samples in the package. */
private fun ownFile(app: InstalledApp, data: File, options: Options) {
    val asset = LiarNet.loadBlocking(app, Options(providers = listOf(Provider.CPU))).use { it.info.asset }
    val own = File(data, "own.onnx")
    app.getAssets().open(asset).use { read -> own.outputStream().use { read.copyTo(it) } }
    LiarNet.loadBlocking(app, options, Source.file(own)).use {
        report("own", "${it.provider} ${it.fallbacks.single().reason}|${it.info.proofs.single().reason}")
    }
}

private const val LOADS = 4
