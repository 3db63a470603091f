package apps

import android.graphics.Bitmap
import com.example.vision.Classifier
import com.example.vision.Orientation
import com.example.vision.Picture
import com.example.vision.Region
import device.InstalledApp
import device.report
import java.io.File
import java.nio.ByteBuffer

/** Has the package of the sample apps look at a picture of RGBA `pixels`: as a bitmap, and turned upside down. */
fun main(arguments: Array<String>) {
    val values = arguments.associate { it.substringBefore('=') to it.substringAfter('=') }
    val app = InstalledApp(apk = File(values.getValue("apk")), data = File(values.getValue("data")))
    val pixels = File(values.getValue("files"), "pixels").readBytes()
    val (width, height) = listOf("width", "height").map { values.getValue(it).toInt() }
    Classifier.loadBlocking(app).use { model ->
        val found = model.classifyBlocking(Bitmap(Bitmap.Config.ARGB_8888, width, height, 4 * width, true, true, pixels))
        report("labels", found.joinToString("|") { it.label })
        report("indices", found.joinToString(" ") { "${it.index}" })
        report("scores", found.joinToString(" ") { "${it.score}" })
        val turned = ByteBuffer.allocateDirect(pixels.size)
        for (pixel in 0 until width * height) turned.put(pixels, pixels.size - 4 * (pixel + 1), 4)
        val again = model.classifyBlocking(Picture(turned, width, height, orientation = Orientation.DOWN))
        report("turned", again.zip(found).maxOf { (one, other) -> kotlin.math.abs(one.score - other.score) })
        val half = model.classifyBlocking(Picture(turned, width, height, region = Region(0, 0, width / 2, height)), top = 1)
        report("half", half.single().score != found.first().score)
    }
}
