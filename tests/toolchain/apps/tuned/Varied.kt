package apps

import com.example.models.Chain
import com.example.models.Options
import com.example.models.Plain
import com.example.models.Provider
import device.InstalledApp
import device.report
import java.io.File

private val ASKED = mapOf(
    "usual" to Options(),
    "off" to Options(tuned = false),
    "own order" to Options(providers = listOf(Provider.XNNPACK)),
)

/** Loads a model on a chip that may open another variant of it, and has it test itself. */
fun main(arguments: Array<String>) {
    val values = arguments.associate { it.substringBefore('=') to it.substringAfter('=') }
    val app = InstalledApp(apk = File(values.getValue("apk")), data = File(values.getValue("data")))
    if (values["wrong"] == "yes") expectPlain()
    for ((name, options) in ASKED) {
        Chain.loadBlocking(app, options).use { model ->
            report("$name.file", model.info.asset.substringAfterLast('/').removeSuffix(".tflite"))
            report("$name.provider", model.provider)
            val tests = model.selfTestBlocking()
            report("$name.passed", tests.passed)
            report("$name.tolerance", tests.outputs.first().tolerance)
            report("$name.error", tests.outputs.maxOf { it.maxRelError })
        }
    }
}

/** Has the package take the file of another model for the one that a chip's CPU opens. */
private fun expectPlain() {
    val own = files(Chain::class.java).single { it.get("variant") == "int8" && "CPU" in it.get("providers").toString() }
    val other = files(Plain::class.java).single { "CPU" in it.get("providers").toString() }
    for (name in listOf("sha256", "endsSha256", "sizeBytes")) {
        own.get("asset").field(name).set(own.get("asset"), other.get("asset").get(name))
    }
}

private fun files(model: Class<*>): List<Any> {
    val loader = model.getField("Companion").get(null)
    val known = loader.javaClass.superclass.getDeclaredField("files\$delegate").apply { isAccessible = true }.get(loader)
    return ((known as Lazy<*>).value!!.get("files") as List<*>).filterNotNull()
}

private fun Any.field(name: String) = javaClass.getDeclaredField(name).apply { isAccessible = true }

private fun Any.get(name: String): Any = field(name).get(this)
