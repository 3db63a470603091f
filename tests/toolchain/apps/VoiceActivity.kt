package apps

import com.example.models.SileroVad
import java.nio.FloatBuffer

/** Follows a recording window by window: the state that one run gives is what the next one takes. */
fun main(arguments: Array<String>) {
    val task = Task(arguments)
    val recording = task.floats("audio")
    val windows = List(task.number("windows")) { FloatArray(576).also(recording::get) }
    timed("load") { SileroVad.loadBlocking(task.app, task.options) }.use { model ->
        reportModel(model.provider, model.fallbacks, model.info)
        val input = SileroVad.Input()
        val output = SileroVad.Output()
        val speech = FloatBuffer.allocate(windows.size)
        input.sr.put(0, 16_000)
        for (window in windows) {
            input.input.clear()
            input.input.put(window)
            timed("run") { model.runBlocking(input, output) }
            speech.put(output.output)
            input.state.clear()
            input.state.put(output.stateN)
        }
        speech.flip()
        task.write("output", speech)
        input.state.clear()
        task.write("stateN", input.state)
    }
}
