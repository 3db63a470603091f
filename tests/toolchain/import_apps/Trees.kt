package apps

import com.example.models.Boosted
import com.example.models.Grown
import com.example.models.Sets
import device.report

/** Has three models of trees test themselves. */
fun main(arguments: Array<String>) {
    val task = Task(arguments)
    val found = mapOf(
        "boosted" to Boosted.loadBlocking(task.app, task.options).use { it.selfTestBlocking() },
        "sets" to Sets.loadBlocking(task.app, task.options).use { it.selfTestBlocking() },
        "grown" to Grown.loadBlocking(task.app, task.options).use { it.selfTestBlocking() },
    )
    found.forEach { (name, test) -> report(name, "${test.passed} ${test.outputs.size}") }
}
