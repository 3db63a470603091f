package apps

import com.example.models.EveryType
import com.example.models.Minilm
import com.example.models.ModelException
import com.example.models.Options
import com.example.models.OrientationModel
import com.example.models.Provider
import com.example.models.SelfTest
import com.example.models.SileroVad
import device.report
import device.reportFailure

/** Has one model test itself, then once more after it was closed. */
fun main(arguments: Array<String>) {
    val task = Task(arguments)
    when (val name = arguments.first { it.startsWith("model=") }.removePrefix("model=")) {
        "orientation" -> OrientationModel.loadBlocking(task.app, task.options).let { test(it::selfTestBlocking, it::close) }
        "silero-vad" -> SileroVad.loadBlocking(task.app, task.options).let { test(it::selfTestBlocking, it::close) }
        "minilm" -> Minilm.loadBlocking(task.app, task.options).let { test(it::selfTestBlocking, it::close) }
        "every-type" -> EveryType.loadBlocking(task.app, task.options).let { test(it::selfTestBlocking, it::close) }
        "in 16 bits" -> OrientationModel.loadBlocking(task.app, sixteenBits).let { test(it::selfTestBlocking, it::close) }
        else -> error("no model is called $name")
    }
}

private val sixteenBits = Options(
    providers = listOf(Provider.NNAPI),
    providerOptions = mapOf(Provider.NNAPI to mapOf("USE_FP16" to "1")),
)

private fun test(selfTest: () -> SelfTest, close: () -> Unit) {
    try {
        val found = selfTest()
        report("passed", found.passed)
        report("model", found.model)
        report("asset", found.asset)
        report("provider", found.provider)
        report("text", found)
        for (output in found.outputs) {
            val key = "${output.name}.${output.sample}"
            report("$key.error", output.maxAbsError)
            report("$key.share", output.maxRelError)
            report("$key.mismatches", output.mismatchCount)
            report("$key.scale", output.scale)
            report("$key.tolerance", output.tolerance)
            report("$key.absoluteTolerance", output.absoluteTolerance)
            report("$key.failure", output.failure)
        }
        report("failed", found.outputs.filterNot { it.passed }.joinToString(",") { "${it.name}.${it.sample}" })
    } catch (failure: ModelException) {
        report("thrown", failure.javaClass.name)
        report("message", failure.message)
    }
    close()
    reportFailure("closed") { selfTest() }
}
