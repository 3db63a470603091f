package android.graphics

import java.io.InputStream
import javax.imageio.IIOException
import javax.imageio.ImageIO

/** Decodes with Java's decoders, and takes every [Options.inSampleSize]th pixel of every such row. */
public object BitmapFactory {
    public class Options {
        @JvmField public var inJustDecodeBounds: Boolean = false

        @JvmField public var inSampleSize: Int = 0

        @JvmField public var inScaled: Boolean = true

        @JvmField public var inPreferredConfig: Bitmap.Config = Bitmap.Config.ARGB_8888

        @JvmField public var inPreferredColorSpace: ColorSpace? = null

        @JvmField public var outWidth: Int = 0

        @JvmField public var outHeight: Int = 0
    }

    /** Steps of the decoding calls, for tests to look at. */
    public val steps: MutableList<Int> = mutableListOf()

    @JvmStatic
    public fun decodeStream(stream: InputStream, padding: Rect?, options: Options): Bitmap? {
        check(padding == null)
        val image = try {
            ImageIO.read(stream)
        } catch (damaged: IIOException) {
            null
        }
        options.outWidth = image?.width ?: -1
        options.outHeight = image?.height ?: -1
        if (image == null || options.inJustDecodeBounds) return null
        check(!options.inScaled && options.inPreferredColorSpace?.isSrgb() != false)
        val step = maxOf(1, options.inSampleSize).also { steps += it }
        val (width, height) = image.width / step to image.height / step
        val pixels = ByteArray(4 * width * height)
        for (at in 0 until width * height) {
            val colour = image.getRGB(at % width * step, at / width * step)
            val alpha = colour ushr 24
            for ((place, shift) in listOf(16, 8, 0).withIndex()) {
                pixels[4 * at + place] = ((colour ushr shift and 0xFF) * alpha / 255).toByte()
            }
            pixels[4 * at + 3] = alpha.toByte()
        }
        return Bitmap(options.inPreferredConfig, width, height, 4 * width, true, true, pixels)
    }
}
