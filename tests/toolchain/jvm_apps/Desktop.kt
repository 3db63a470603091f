package apps

import com.example.models.Classifier
import com.example.models.Context
import com.example.models.Options
import com.example.models.Picture
import com.example.models.Probe
import com.example.models.Proof
import com.example.models.Provider
import device.report
import device.reportFailure
import java.io.File
import javax.imageio.ImageIO

/** Pictures as files and as Java has them, providers that this ONNX Runtime lacks, and folders that cannot be used. */
fun main(arguments: Array<String>) {
    val task = Task(arguments)
    Probe.loadBlocking(task.app, task.options).use { model ->
        for (name in task.text("pictures").split(',')) {
            val file = task.file(name)
            report(name, seen(model, Picture.of(file)))
            report("$name as bytes", seen(model, Picture.of(file.readBytes())))
            report("$name as an image", seen(model, Picture.of(ImageIO.read(file))))
        }
    }
    for (name in listOf("text.png", "deep.png", "absent.png")) reportFailure(name) { Picture.of(task.file(name)) }
    val asked = Options(providers = listOf(Provider.CUDA, Provider.COREML), proof = Proof())
    val digest = Classifier.loadBlocking(task.app, asked).use { model ->
        report("provider", model.provider)
        report("left out", model.fallbacks.joinToString { "${it.provider}" })
        model.info.sha256
    }
    val unpacked = File(task.app.folder, digest)
    unpacked.writeBytes(ByteArray(unpacked.length().toInt()))
    Classifier.loadBlocking(task.app, task.options).use { report("damaged", it.info.sha256) }
    reportFailure("no folder") { Classifier.loadBlocking(Context(File("/proc/nothing")), task.options) }
}

/** How the picture lies in memory for the model: EXIF's number, and red, green and blue of each pixel. */
private fun seen(model: Probe, picture: Picture): String {
    val found = model.predictBlocking(picture)
    return (0 until found.seen.capacity()).joinToString(" ", "${found.turned[0]}: ") { "${found.seen[it].toInt() and 0xFF}" }
}
