package apps

import android.app.ActivityManager
import android.app.ApplicationExitInfo
import com.example.models.LiarNet
import com.example.models.Options
import com.example.models.Proof
import com.example.models.Provider
import device.InstalledApp
import device.report
import java.io.File

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
