package apps

import com.example.models.OrientationModel
import device.report
import device.reportFailure

/** Loads a model whose file may be damaged, and reports how that is answered. */
fun main(arguments: Array<String>) {
    val task = Task(arguments)
    reportFailure("load") { OrientationModel.loadBlocking(task.app, task.options).close() }
    report("files", task.app.getNoBackupFilesDir().walk().filter { it.isFile }.joinToString(",") { it.name })
}
