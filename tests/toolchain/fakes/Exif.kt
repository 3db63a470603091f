package android.media

import java.io.InputStream
import java.nio.ByteBuffer
import java.nio.ByteOrder

/** The orientation in the first directory of a JPEG's Exif data (CIPA DC-008 4.6.2). */
public class ExifInterface(stream: InputStream) {
    private val orientation = orientationIn(stream.readAllBytes())

    public fun getAttributeInt(tag: String, defaultValue: Int): Int {
        check(tag == TAG_ORIENTATION)
        return orientation ?: defaultValue
    }

    private fun orientationIn(content: ByteArray): Int? {
        val start = String(content, Charsets.ISO_8859_1).indexOf("Exif\u0000\u0000")
        if (start < 0) return null
        val data = ByteBuffer.wrap(content, start + 6, content.size - start - 6).slice()
        data.order(if (data.get(0) == 'M'.code.toByte()) ByteOrder.BIG_ENDIAN else ByteOrder.LITTLE_ENDIAN)
        val directory = data.getInt(4)
        val entries = List(data.getShort(directory).toInt()) { directory + 2 + 12 * it }
        return entries.find { data.getShort(it).toInt() == ORIENTATION }?.let { data.getShort(it + 8).toInt() }
    }

    public companion object {
        public const val TAG_ORIENTATION: String = "Orientation"
        private const val ORIENTATION = 0x0112
    }
}
