package apps

import android.content.res.AssetManager
import com.example.models.OrientationModel
import device.report
import java.io.File

/** Says for a batch of page images which way up each is. */
fun main(arguments: Array<String>) {
    val task = Task(arguments)
    timed("load") { OrientationModel.loadBlocking(task.app, task.options) }.use { model ->
        reportModel(model.provider, model.fallbacks, model.info, model.assignment)
        val input = OrientationModel.Input(dynamicDimension0 = task.number("batch"))
        input.x.put(task.floats("x"))

        val output = timed("run") { model.runBlocking(input) }

        task.write("fetch_name_0", output.fetchName0)
        report("shape", output.fetchName0Shape.joinToString(","))
        report("opened", AssetManager.opened.size)
        report("mapped", AssetManager.mapped.size)
        report("apk.isMapped", isMapped(task.app.getPackageCodePath()))
        report("copies", task.app.getNoBackupFilesDir().walk().filter { it.extension == "tflite" }.joinToString(",", transform = File::getPath))
    }
}
