package apps

import android.graphics.Bitmap
import com.example.picture.Models
import com.example.vision.Orientation
import device.InstalledApp
import device.report
import java.io.File

/** Starts the sample app, which looks at a picture of RGBA `pixels`, then for a newer model in a channel. */
fun main(arguments: Array<String>) {
    val values = arguments.associate { it.substringBefore('=') to it.substringAfter('=') }
    val app = InstalledApp(apk = File(values.getValue("apk")), data = File(values.getValue("data")))
    val pixels = File(values.getValue("files"), "pixels").readBytes()
    val (width, height) = listOf("width", "height").map { values.getValue(it).toInt() }
    val models = Models(app, values.getValue("address"))
    models.loadBlocking().use { model ->
        val picture = Bitmap(Bitmap.Config.ARGB_8888, width, height, 4 * width, true, true, pixels)
        report("label", model.classifyBlocking(picture, Orientation.UP).first().label)
        report("version", model.info.version)
        report("newer", "${models.updateBlocking()}")
    }
}
