package apps

import android.graphics.Bitmap
import android.graphics.ColorSpace
import android.graphics.Rect
import android.media.Image
import com.example.models.Orientation
import com.example.models.Picture
import com.example.models.PixelFormat
import com.example.models.Probe
import com.example.models.Region
import device.report
import device.reportFailure
import java.lang.management.BufferPoolMXBean
import java.lang.management.ManagementFactory
import java.nio.ByteBuffer

private const val WIDTH = 7
private const val HEIGHT = 6
private val REGIONS = mapOf(
    "all" to null,
    "part" to Region(1, 2, 5, 6),
    "rows" to Region(0, 2, WIDTH, 4),
    "row" to Region(2, 3, 4, 4),
)

/** Shows pictures of every kind to a model that says what it sees. */
fun main(arguments: Array<String>) {
    val task = Task(arguments)
    Probe.load(task.app, task.options).use { model ->
        layouts(model, task.bytes("bytes"))
        orientations(model)
        bitmaps(model, task.bytes("bytes"))
        images(model, task.bytes("bytes"))
    }
    refusals()
}

private fun layouts(model: Probe, bytes: ByteBuffer) {
    for (format in PixelFormat.entries) for (gap in listOf(0, 5)) for (isDirect in listOf(true, false)) {
        for ((name, region) in REGIONS) {
            val memory = copy(bytes, isDirect)
            val rowBytes = WIDTH * format.bytesPerPixel + gap
            val picture = Picture(memory, WIDTH, HEIGHT, format, rowBytes, region = region)
            model.see("seen $format $gap $isDirect $name", picture)
            for (at in 0 until memory.capacity()) memory.put(at, 0)
            val seen = model.predict(picture).seen
            report("follows $format $gap $isDirect $name", (0 until seen.capacity()).all { seen.get(it) == 0.toByte() })
        }
    }
}

/** With the position at the end, where writing leaves it. */
private fun copy(bytes: ByteBuffer, isDirect: Boolean): ByteBuffer {
    val size = bytes.capacity()
    return (if (isDirect) ByteBuffer.allocateDirect(size) else ByteBuffer.allocate(size)).put(bytes.duplicate())
}

private fun orientations(model: Probe) {
    for (orientation in Orientation.entries) {
        val picture = Picture(ByteBuffer.allocateDirect(4), 1, 1, orientation = orientation)
        report("orientation $orientation", "${model.predict(picture).turned.get(0)} ${orientation.exif}")
    }
    report("exif", (-1..9).joinToString(" ") { Orientation.ofExif(it).name })
    report("rotations", listOf(0, 90, 180, 270, 360, -90, 450).joinToString(" ") { Orientation.ofRotation(it).name })
    reportFailure("rotation by 45") { Orientation.ofRotation(45) }
}

private fun bitmaps(model: Probe, bytes: ByteBuffer) {
    val memory = ByteArray(bytes.capacity()).also { bytes.duplicate().get(it) }
    fun bitmap(
        config: Bitmap.Config?,
        rowBytes: Int = 4 * WIDTH,
        hasAlpha: Boolean = true,
        isPremultiplied: Boolean = true,
    ) = Bitmap(config, WIDTH, HEIGHT, rowBytes, hasAlpha, isPremultiplied, memory)

    model.see("bitmap ARGB_8888", Picture.of(bitmap(Bitmap.Config.ARGB_8888)))
    model.see("bitmap with gaps", Picture.of(bitmap(Bitmap.Config.ARGB_8888, rowBytes = 4 * WIDTH + 8)))
    model.see("bitmap not premultiplied", Picture.of(bitmap(Bitmap.Config.ARGB_8888, isPremultiplied = false)))
    model.see("bitmap opaque", Picture.of(bitmap(Bitmap.Config.ARGB_8888, hasAlpha = false, isPremultiplied = false)))
    fun wide(config: Bitmap.Config) =
        Bitmap(config, WIDTH, HEIGHT, 4 * WIDTH, false, false, memory.copyOf(4 * WIDTH * HEIGHT), ColorSpace.DISPLAY_P3)
    val copiesBefore = Bitmap.copies.size
    model.see("bitmap of P3", Picture.of(wide(Bitmap.Config.ARGB_8888)))
    model.see("bitmap of P3 HARDWARE", Picture.of(wide(Bitmap.Config.HARDWARE)))
    report("copies of P3", "${Bitmap.copies.size - copiesBefore} ${Bitmap.recycled.toSet() == Bitmap.copies.toSet()}")
    Bitmap.copies.clear()
    Bitmap.recycled.clear()
    model.see("bitmap HARDWARE", Picture.of(bitmap(Bitmap.Config.HARDWARE)))
    model.see("bitmap RGB_565", Picture.of(bitmap(Bitmap.Config.RGB_565, rowBytes = 2 * WIDTH + 2, hasAlpha = false)))
    report("copies", "${Bitmap.copies.size} ${Bitmap.recycled == Bitmap.copies}")
    val turned = model.predict(bitmap(Bitmap.Config.ARGB_8888), Orientation.LEFT)
    report("bitmap turned", turned.turned.get(0))

    val room = ByteBuffer.allocateDirect(4 * WIDTH * HEIGHT + 3)
    val sources = List(20) { bitmap(Bitmap.Config.ARGB_8888) }
    val before = directBuffers()
    val kept = sources.map { Picture.of(it, memory = room) }
    report("buffers made with memory", directBuffers() - before)
    model.see("bitmap in memory", kept.last())
    val beforeOthers = directBuffers()
    val others = sources.map { Picture.of(it) }
    report("buffers made without", directBuffers() - beforeOthers)
    model.see("bitmap in memory of its own", others.last())

    reportFailure("bitmap ALPHA_8") { Picture.of(bitmap(Bitmap.Config.ALPHA_8)) }
    reportFailure("bitmap that cannot be converted") { Picture.of(bitmap(Bitmap.Config.RGBA_F16)) }
    reportFailure("bitmap without a public config") { Picture.of(bitmap(null)) }
    reportFailure("bitmap that is recycled") { Picture.of(bitmap(Bitmap.Config.ARGB_8888).apply { recycle() }) }
    reportFailure("memory too small") { Picture.of(sources[0], memory = ByteBuffer.allocateDirect(167)) }
    reportFailure("memory on the heap") { Picture.of(sources[0], memory = ByteBuffer.allocate(168)) }
    reportFailure("memory that is read-only") { Picture.of(sources[0], memory = room.asReadOnlyBuffer()) }
}

private fun images(model: Probe, bytes: ByteBuffer) {
    val stride = 4 * WIDTH + 12
    // The last row of a camera's plane ends with its last pixel.
    val size = stride * (HEIGHT - 1) + 4 * WIDTH
    val memory = ByteBuffer.allocateDirect(size).put(bytes.duplicate().apply { limit(size) })
    val plane = Image.Plane(memory, stride, 4)
    model.see("image", Picture.of(Image(1, WIDTH, HEIGHT, arrayOf(plane)), Orientation.RIGHT))
    model.see("image without alpha", Picture.of(Image(2, WIDTH, HEIGHT, arrayOf(plane))))
    model.see("image cropped", Picture.of(Image(1, WIDTH, HEIGHT, arrayOf(plane), Rect(2, 1, 6, 5))))
    val readOnly = Image.Plane(memory.asReadOnlyBuffer(), stride, 4)
    model.see("image that is read-only", Picture.of(Image(1, WIDTH, HEIGHT, arrayOf(readOnly), Rect(0, 0, WIDTH, 1))))
    reportFailure("image in YUV") { Picture.of(Image(35, WIDTH, HEIGHT, arrayOf(plane))) }
}

private fun refusals() {
    val bytes = ByteBuffer.allocateDirect(64 * 48 * 4)
    reportFailure("no width") { Picture(bytes, 0, 48) }
    reportFailure("negative height") { Picture(bytes, 64, -1) }
    reportFailure("short rows") { Picture(bytes, 64, 48, rowBytes = 255) }
    reportFailure("one byte too few") { Picture(bytes, 64, 48, rowBytes = 257) }
    reportFailure("more than a buffer holds") { Picture(bytes, 1 shl 30, 1 shl 30) }
    reportFailure("region outside") { Picture(bytes, 64, 48, region = Region(10, 10, 65, 20)) }
    reportFailure("region upside down") { Picture(bytes, 64, 48, region = Region(10, 20, 20, 10)) }
}

private fun Probe.see(name: String, picture: Picture) {
    val found = predict(picture)
    report(name, List(found.seen.capacity()) { found.seen.get(it).toInt() and 0xFF }.joinToString(" "))
    report("shape of $name", found.seenShape.joinToString(" ") + " from " + List(3, found.size::get).joinToString(" "))
}

private fun directBuffers(): Long =
    ManagementFactory.getPlatformMXBeans(BufferPoolMXBean::class.java).single { it.name == "direct" }.count
