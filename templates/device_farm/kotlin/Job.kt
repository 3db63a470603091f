package dev.mobpack.farm

import android.content.Context
import android.os.Build
import dev.mobpack.device.Driver
import dev.mobpack.device.Host
import dev.mobpack.device.Models
import dev.mobpack.device.PackagedClass
import dev.mobpack.device.Request
import dev.mobpack.device.json
import java.io.File

/** Rounds of all models with all providers: what `mobpack device bench` asks of a device, without anybody who asks. */
internal class Job(private val context: Context, private val home: File) {
    private val models = Models(home.path)

    fun run(): String {
        Host.context = context
        val plans = File(home, "plan.txt").readLines().map(Request::of)
        val rounds = plans.first().number("rounds").toInt()
        val exchanges = (0 until rounds).flatMap { round -> plans.drop(1).flatMap { exchanges(it, round) } }
        val package_ = File(home, "package.json").readText()
        val threads = plans[1].number("threads").toInt()
        val head = """"schema-version":1,"package":$package_,"device":${device()},"threads":$threads"""
        return """{$head,"exchanges":[${exchanges.joinToString(",")}]}"""
    }

    private fun exchanges(plan: Request, round: Int): List<String> {
        val known = checkNotNull(PackagedClass.of(plan.text("class"))) { "${plan.text("class")} is no model" }.about()
        return (known["providers"] as List<*>).map { provider ->
            val exchange = exchange(plan, round, provider.toString(), known["name"].toString())
            if (round == 0 && known["proves"] == true) proved(plan, provider.toString(), exchange) else exchange
        }
    }

    /** One load and the runs after it. The first round begins without the provider's caches, and compares outputs. */
    private fun exchange(plan: Request, round: Int, provider: String, name: String): String {
        val data = File(home, "data/${plan.text("class")}.$provider")
        if (round == 0) data.deleteRecursively()
        val opened = opened(plan, provider, data)
        val timing = plan.group("") + mapOf("inputs" to File(home, plan.text("inputs")).path)
        val timed = Driver.answer(models, Request("time", timing))
        val tested = if (round == 0) Driver.answer(models, Request("self-test", emptyMap())) else "null"
        Driver.answer(models, Request("close", emptyMap()))
        val about = json("model" to name, "provider" to provider, "round" to round)
        return """${about.dropLast(1)},"open":$opened,"time":$timed,"self-test":$tested}"""
    }

    /** [exchange] with the verdict of the package on the provider, as an app with the option `proof` gets it. */
    private fun proved(plan: Request, provider: String, exchange: String): String {
        val data = File(home, "data/${plan.text("class")}.$provider.proof").apply { deleteRecursively() }
        val opened = opened(plan, provider, data, mapOf("proof" to "1"))
        Driver.answer(models, Request("close", emptyMap()))
        return """${exchange.dropLast(1)},"proof":$opened}"""
    }

    private fun opened(plan: Request, provider: String, data: File, more: Map<String, String> = emptyMap()): String {
        data.mkdirs()
        val opening = mapOf(
            "class" to plan.text("class"),
            "provider" to provider,
            "threads" to plan.text("threads"),
            "data" to data.path,
            "libraries" to context.applicationInfo.nativeLibraryDir,
        )
        return Driver.answer(models, Request("open", opening + more))
    }

    private fun device(): String = json(
        "maker" to Build.MANUFACTURER,
        "model" to Build.MODEL,
        "soc" to if (Build.VERSION.SDK_INT >= Build.VERSION_CODES.S) Build.SOC_MODEL else "",
        "api" to Build.VERSION.SDK_INT,
        "release" to Build.VERSION.RELEASE,
        "abi" to File(context.applicationInfo.nativeLibraryDir).name,
        "fingerprint" to Build.FINGERPRINT,
    )
}
