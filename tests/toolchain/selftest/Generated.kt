package apps

import com.example.models.Generated
import device.report

/** Has the model whose inputs are made on the phone test itself. */
fun main(arguments: Array<String>) {
    val task = Task(arguments)
    val found = Generated.loadBlocking(task.app, task.options).use { it.selfTestBlocking() }
    report("passed", found.passed)
    report("text", found)
    report("count", found.outputs.size)
    report("failed", found.outputs.filterNot { it.passed }.joinToString(",") { "${it.name}.${it.sample}" })
}
