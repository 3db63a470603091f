package apps

import com.example.models.OrientationModel
import com.example.models.Verify
import device.report
import java.lang.management.ManagementFactory

/** Reports the processor time of loading: the first time, later, and with all of the file read; for people. */
fun main(arguments: Array<String>) {
    val task = Task(arguments)
    val thread = ManagementFactory.getThreadMXBean()
    fun load(verify: Verify): Double {
        val start = thread.currentThreadCpuTime
        val model = OrientationModel.loadBlocking(task.app, task.options.copy(verify = verify))
        return ((thread.currentThreadCpuTime - start) / 1e6).also { model.close() }
    }
    fun median(load: () -> Double): Double = List(task.number("repeats")) { load() }.sorted().let { it[it.size / 2] }
    load(Verify.ALWAYS) // ONNX Runtime's libraries and the app's classes are there from here on
    report(
        "first.ms",
        median {
            task.app.getNoBackupFilesDir().deleteRecursively()
            load(Verify.ONCE)
        },
    )
    report("later.ms", median { load(Verify.ONCE) })
    report("always.ms", median { load(Verify.ALWAYS) })
}
