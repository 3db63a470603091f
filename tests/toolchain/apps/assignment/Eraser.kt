package apps

import com.example.models.Eraser
import com.example.models.Plain
import com.example.models.Uncounted
import com.example.models.Unfused
import device.report

/** Loads one of four models of error functions, and reports who runs it; of one, what it makes of ones. */
fun main(arguments: Array<String>) {
    val task = Task(arguments)
    when (task.text("model")) {
        "eraser" -> Eraser.loadBlocking(task.app, task.options).use {
            reportModel(it.provider, it.fallbacks, it.info, it.assignment)
        }
        "uncounted" -> Uncounted.loadBlocking(task.app, task.options).use {
            reportModel(it.provider, it.fallbacks, it.info, it.assignment)
        }
        "unfused" -> Unfused.loadBlocking(task.app, task.options).use {
            reportModel(it.provider, it.fallbacks, it.info, it.assignment)
        }
        else -> Plain.loadBlocking(task.app, task.options).use {
            reportModel(it.provider, it.fallbacks, it.info, it.assignment)
            val input = Plain.Input()
            repeat(input.x.capacity()) { index -> input.x.put(index, 1f) }
            report("y", "%.5f".format(it.runBlocking(input).y[0]))
            report("erf", "0.84270")
        }
    }
}
