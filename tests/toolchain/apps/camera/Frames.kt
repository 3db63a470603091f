// Without a package, as the examples of the README.

import android.media.Image
import androidx.camera.core.ImageInfo
import androidx.camera.core.ImageProxy
import com.example.vision.Classifier
import device.InstalledApp
import device.report
import device.reportFailure
import java.io.File
import java.nio.ByteBuffer

private const val YUV_420_888 = 35
private const val SIZE = 64

/** A frame of one colour. */
private class Frame : ImageProxy {
    var isClosed = false

    override val imageInfo = object : ImageInfo {
        override val rotationDegrees: Int = 90
    }

    override val image: Image = Image(
        YUV_420_888,
        SIZE,
        SIZE,
        arrayOf(plane(SIZE), plane(SIZE / 2), plane(SIZE / 2)),
    )

    override fun close() {
        isClosed = true
    }

    private fun plane(size: Int) = Image.Plane(ByteBuffer.allocateDirect(size * size), size, 1)
}

/** Gives frames to the README's analyzer: the last one comes after the model was closed. */
fun main(arguments: Array<String>) {
    val values = arguments.associate { it.substringBefore('=') to it.substringAfter('=') }
    val app = InstalledApp(apk = File(values.getValue("apk")), data = File(values.getValue("data")))
    val model = Classifier.loadBlocking(app)
    var shown = 0
    val analyzer = ClassifierAnalyzer(model) { shown += 1 }
    val frames = listOf(Frame(), Frame())
    analyzer.analyze(frames.first())
    model.close()
    reportFailure("last") { analyzer.analyze(frames.last()) }
    report("shown", shown)
    report("closed", frames.all { it.isClosed })
}
