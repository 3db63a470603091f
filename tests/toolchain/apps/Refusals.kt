package apps

import android.util.Log
import com.example.models.Minilm
import com.example.models.Options
import com.example.models.OrientationModel
import com.example.models.Provider
import device.report
import device.reportFailure
import java.nio.ByteBuffer
import java.nio.ByteOrder
import java.nio.FloatBuffer
import kotlin.coroutines.Continuation
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.coroutines.startCoroutine

private const val PAGE = 3 * 224 * 224

/** Does what an app must not do, and reports how each is answered. */
fun main(arguments: Array<String>) {
    val task = Task(arguments)
    reportFailure("one value too few") { OrientationModel.Input(direct(PAGE - 1), dynamicDimension0 = 1) }
    reportFailure("one value too many") { OrientationModel.Input(direct(PAGE + 1), dynamicDimension0 = 1) }
    reportFailure("other batch than its buffer") { OrientationModel.Input(direct(PAGE), dynamicDimension0 = 2) }
    reportFailure("buffer on the heap") { OrientationModel.Input(FloatBuffer.allocate(PAGE), dynamicDimension0 = 1) }
    reportFailure("foreign byte order") {
        OrientationModel.Input(ByteBuffer.allocateDirect(PAGE * 4).asFloatBuffer(), dynamicDimension0 = 1)
    }
    reportFailure("negative size") { OrientationModel.Input(dynamicDimension0 = -1) }
    reportFailure("size beyond a buffer") { OrientationModel.Input(dynamicDimension0 = Int.MAX_VALUE) }
    reportFailure("two inputs that disagree") {
        Minilm.Input(longs(8), longs(8), longs(7), batch = 1, sequence = 8)
    }

    val unavailable = Options(providers = listOf(Provider.QNN, Provider.XNNPACK))
    OrientationModel.loadBlocking(task.app, unavailable).use { model ->
        report("after QNN", model.provider)
        report("fallback", model.fallbacks.single().provider)
        report("fallback.reason", model.fallbacks.single().reason)
        report("log", Log.lines.joinToString("\n"))
    }

    Minilm.loadBlocking(task.app, Options(providers = listOf(Provider.CPU))).use { model ->
        val wrong = Minilm.Input(sequence = 4)
        wrong.inputIds.put(0, 1_000_000)
        reportFailure("value the model refuses") { model.runBlocking(wrong) }
        report("values after a refusal", model.runBlocking(Minilm.Input(sequence = 4)).lastHiddenState.capacity())
    }

    val model = OrientationModel.loadBlocking(task.app, Options(providers = listOf(Provider.CPU)))
    val input = OrientationModel.Input(dynamicDimension0 = 1)
    model.close()
    reportFailure("runBlocking after close") { model.runBlocking(input) }
    reportFailure("warmUpBlocking after close") { model.warmUpBlocking(input) }
    reportFailure("run after close") { startNow { model.run(input) } }
    reportFailure("second close") { model.close() }
}

private fun direct(count: Int): FloatBuffer =
    ByteBuffer.allocateDirect(count * Float.SIZE_BYTES).order(ByteOrder.nativeOrder()).asFloatBuffer()

private fun longs(count: Int) =
    ByteBuffer.allocateDirect(count * Long.SIZE_BYTES).order(ByteOrder.nativeOrder()).asLongBuffer()

/** Throws what [block] throws before it suspends. */
private fun <T> startNow(block: suspend () -> T) {
    var failure: Throwable? = null
    block.startCoroutine(Continuation(EmptyCoroutineContext) { failure = it.exceptionOrNull() })
    failure?.let { throw it }
}
