package apps

import ai.onnxruntime.OnnxTensor
import ai.onnxruntime.OrtEnvironment
import ai.onnxruntime.OrtSession
import com.example.models.ModelMetrics
import com.example.models.Options
import com.example.models.OrientationModel
import com.example.models.Policies
import com.example.models.Provider
import com.example.models.SileroVad
import device.report
import java.nio.ByteBuffer
import java.nio.ByteOrder
import java.nio.FloatBuffer
import java.nio.LongBuffer

/**
 * Times the runs of a generated model, and those of ONNX Runtime's own Java API on the same file: in turns, so that what
 * else the machine does meets both.
 */
fun main(arguments: Array<String>) {
    val task = Task(arguments)
    val plain = Options(
        providers = listOf(Provider.CPU),
        threads = 1,
        policies = Policies(retryOnCpu = false, fewerThreadsWhenHot = false, releaseOnMemoryPressure = false),
    )
    val kinds = mapOf(
        "no policies" to plain,
        "policies" to plain.copy(policies = Policies()),
        "policies and observer" to plain.copy(policies = Policies(), observer = ModelMetrics()),
    )
    val isSpeech = task.text("model") == "silero-vad"
    val ours = kinds.mapValues { (_, options) -> if (isSpeech) speech(task, options) else page(task, options) }
    val direct = if (isSpeech) directSpeech(task) else directPage(task)
    val works = ours + ("ONNX Runtime" to direct)
    repeat(task.number("warmup")) { works.values.forEach { it() } }
    val times = works.mapValues { LongArray(task.number("runs")) }
    repeat(task.number("runs")) { round ->
        for ((name, work) in works) {
            val began = System.nanoTime()
            work()
            times.getValue(name)[round] = System.nanoTime() - began
        }
    }
    for ((name, all) in times) {
        all.sort()
        report("$name.p50", all[all.size / 2] / 1000.0)
        report("$name.p90", all[all.size * 9 / 10] / 1000.0)
    }
}

private fun speech(task: Task, options: Options): () -> Unit {
    val model = SileroVad.loadBlocking(task.app, options)
    val input = SileroVad.Input().also { it.sr.put(0, 16_000) }
    val output = SileroVad.Output()
    return { model.runBlocking(input, output) }
}

private fun page(task: Task, options: Options): () -> Unit {
    val model = OrientationModel.loadBlocking(task.app, options)
    val input = OrientationModel.Input(dynamicDimension0 = 1)
    val output = OrientationModel.Output()
    return { model.runBlocking(input, output) }
}

private fun session(task: Task): OrtSession {
    val options = OrtSession.SessionOptions()
    options.setIntraOpNumThreads(1)
    options.addConfigEntry("session.intra_op.allow_spinning", "0")
    return OrtEnvironment.getEnvironment().createSession(task.text("file"), options)
}

private fun floats(count: Int): FloatBuffer =
    ByteBuffer.allocateDirect(4 * count).order(ByteOrder.nativeOrder()).asFloatBuffer()

/** What an app writes that reuses its buffers: a tensor over each for every run, outputs into memory of its own. */
private fun directSpeech(task: Task): () -> Unit {
    val session = session(task)
    val environment = OrtEnvironment.getEnvironment()
    val (audio, state) = Pair(floats(576), floats(256))
    val rate = ByteBuffer.allocateDirect(8).order(ByteOrder.nativeOrder()).asLongBuffer().put(0, 16_000)
    val (speech, next) = Pair(floats(1), floats(256))
    return {
        tensor(environment, audio, 1, 576).use { first ->
            tensor(environment, state, 2, 1, 128).use { second ->
                OnnxTensor.createTensor(environment, rate as LongBuffer, longArrayOf()).use { third ->
                    tensor(environment, speech, 1, 1).use { one ->
                        tensor(environment, next, 2, 1, 128).use { two ->
                            val inputs = mapOf("input" to first, "state" to second, "sr" to third)
                            session.run(inputs, emptySet(), mapOf("output" to one, "stateN" to two)).close()
                        }
                    }
                }
            }
        }
    }
}

private fun directPage(task: Task): () -> Unit {
    val session = session(task)
    val environment = OrtEnvironment.getEnvironment()
    val (pixels, scores) = Pair(floats(3 * 224 * 224), floats(4))
    return {
        tensor(environment, pixels, 1, 3, 224, 224).use { page ->
            tensor(environment, scores, 1, 4).use { answer ->
                session.run(mapOf("x" to page), emptySet(), mapOf("fetch_name_0" to answer)).close()
            }
        }
    }
}

private fun tensor(environment: OrtEnvironment, values: FloatBuffer, vararg shape: Long): OnnxTensor =
    OnnxTensor.createTensor(environment, values, shape)
