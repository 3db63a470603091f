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
import com.example.models.YuvConversion
import device.report
import device.reportFailure
import java.lang.management.BufferPoolMXBean
import java.lang.management.ManagementFactory
import java.nio.ByteBuffer

private const val WIDTH = 7
private const val HEIGHT = 6
private val CAMERA_FORMATS = listOf(PixelFormat.NV12, PixelFormat.NV21, PixelFormat.P010)
private val PARTS = mapOf("all" to null, "part" to Region(2, 0, 8, 2))
private val REGIONS = mapOf(
    "all" to null,
    "part" to Region(1, 2, 5, 6),
    "rows" to Region(0, 2, WIDTH, 4),
    "row" to Region(2, 3, 4, 4),
)

/** Shows pictures of every kind to a model that says what it sees. */
fun main(arguments: Array<String>) {
    val task = Task(arguments)
    Probe.loadBlocking(task.app, task.options).use { model ->
        layouts(model, task.bytes("bytes"))
        orientations(model)
        bitmaps(model, task.bytes("bytes"))
        images(model, task.bytes("bytes"))
        cameras(model, task.bytes("bytes"))
    }
    refusals()
}

private fun layouts(model: Probe, bytes: ByteBuffer) {
    for (format in PixelFormat.entries - CAMERA_FORMATS) for (gap in listOf(0, 5)) for (isDirect in listOf(true, false)) {
        for ((name, region) in REGIONS) {
            val memory = copy(bytes, isDirect)
            val rowBytes = WIDTH * format.bytesPerPixel + gap
            val picture = Picture(memory, WIDTH, HEIGHT, format, rowBytes, region = region)
            model.see("seen $format $gap $isDirect $name", picture)
            for (at in 0 until memory.capacity()) memory.put(at, 0)
            val seen = model.predictBlocking(picture).seen
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
        report("orientation $orientation", "${model.predictBlocking(picture).turned.get(0)} ${orientation.exif}")
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
    val turned = model.predictBlocking(bitmap(Bitmap.Config.ARGB_8888), Orientation.LEFT)
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
    reportFailure("image in JPEG") { Picture.of(Image(256, WIDTH, HEIGHT, arrayOf(plane))) }
}

/** Luma and chroma: as bytes, and as cameras have them. */
private fun cameras(model: Probe, bytes: ByteBuffer) {
    for (format in CAMERA_FORMATS) for ((name, region) in PARTS) {
        for (conversion in YuvConversion.entries) {
            val picture = Picture(bytes, 8, 4, format, region = region, conversion = conversion)
            model.see("camera $format $conversion $name", picture)
        }
        val apart = copy(bytes, false)
        val row = 8 * format.bytesPerPixel
        val chroma = Picture(apart, 8, 4, format, row + 3, region = region, chroma = bytes, chromaRowBytes = row + 5)
        model.see("camera $format apart $name", chroma)
    }
    val room = ByteBuffer.allocateDirect(64)
    for ((name, planes) in layoutsOf(bytes)) {
        val image = Image(35, 8, 4, planes)
        model.see("image $name", Picture.of(image))
        model.see("image $name cropped", Picture.of(Image(35, 8, 4, planes, Rect(1, 1, 7, 4)), memory = room))
    }
    val wide = arrayOf(plane(bytes, 0, 20, 2), plane(bytes, 80, 20, 4), plane(bytes, 82, 20, 4))
    model.see("image P010", Picture.of(Image(54, 8, 4, wide), conversion = YuvConversion.BT709_VIDEO))
    reportFailure("odd width") { Picture(bytes, 7, 4, PixelFormat.NV12) }
    reportFailure("odd region") { Picture(bytes, 8, 4, PixelFormat.NV21, region = Region(0, 0, 3, 4)) }
    reportFailure("chroma that is missing") { Picture(ByteBuffer.allocate(32), 8, 4, PixelFormat.NV12) }
    val luma = ByteBuffer.allocate(32)
    reportFailure("chroma too small") { Picture(luma, 8, 4, PixelFormat.NV12, chroma = ByteBuffer.allocate(15)) }
    reportFailure("chroma in short rows") {
        Picture(luma, 8, 4, PixelFormat.NV12, chroma = bytes, chromaRowBytes = 7)
    }
    reportFailure("memory too small for chroma") {
        Picture.of(Image(35, 8, 4, layoutsOf(bytes).getValue("planar")), memory = ByteBuffer.allocateDirect(15))
    }
}

/** Of 8 x 4 pixels: U and V side by side in either order, as most devices have them, and apart. */
private fun layoutsOf(bytes: ByteBuffer) = mapOf(
    "u before v" to arrayOf(plane(bytes, 0, 10, 1), plane(bytes, 40, 10, 2), plane(bytes, 41, 10, 2)),
    "v before u" to arrayOf(plane(bytes, 0, 8, 1), plane(bytes, 41, 10, 2), plane(bytes, 40, 10, 2)),
    "planar" to arrayOf(plane(bytes, 0, 8, 1), plane(bytes, 40, 6, 1), plane(bytes, 60, 6, 1)),
)

/** A plane that ends with its last sample. */
private fun plane(bytes: ByteBuffer, start: Int, rowStride: Int, pixelStride: Int): Image.Plane {
    val (rows, columns) = if (start == 0) 4 to 8 else 2 to 4
    val sample = if (pixelStride == 4 || start == 0 && pixelStride == 2) 2 else 1
    val end = start + (rows - 1) * rowStride + (columns - 1) * pixelStride + sample
    val part = bytes.duplicate().apply { position(start).limit(end) }.slice()
    return Image.Plane(ByteBuffer.allocateDirect(part.capacity()).put(part), rowStride, pixelStride)
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
    val found = predictBlocking(picture)
    report(name, List(found.seen.capacity()) { found.seen.get(it).toInt() and 0xFF }.joinToString(" "))
    report("tint of $name", List(found.tint.capacity()) { found.tint.get(it).toInt() and 0xFF }.joinToString(" "))
    report("conversion of $name", List(3, found.converted::get).joinToString(" "))
    report("shape of $name", found.seenShape.joinToString(" ") + " from " + List(3, found.size::get).joinToString(" "))
}

private fun directBuffers(): Long =
    ManagementFactory.getPlatformMXBeans(BufferPoolMXBean::class.java).single { it.name == "direct" }.count
