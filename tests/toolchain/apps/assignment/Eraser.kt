package apps

import com.example.models.Eraser
import device.report

/** Loads a model of error functions, reports who runs it, and what it makes of ones. */
fun main(arguments: Array<String>) {
    val task = Task(arguments)
    Eraser.loadBlocking(task.app, task.options).use { model ->
        reportModel(model.provider, model.fallbacks, model.info, model.assignment)
        if (task.has("load_only")) return
        val input = Eraser.Input.allocate()
        repeat(input.x.capacity()) { input.x.put(it, 1f) }
        report("y", "%.5f".format(model.run(input).y[0]))
        report("erf", "0.84270")
    }
}
