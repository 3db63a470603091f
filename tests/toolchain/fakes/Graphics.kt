package android.graphics

import java.nio.Buffer
import java.nio.ByteBuffer

public class Rect(
    @JvmField public var left: Int = 0,
    @JvmField public var top: Int = 0,
    @JvmField public var right: Int = 0,
    @JvmField public var bottom: Int = 0,
)

/**
 * Pixels as Android keeps them: [memory] has rows of [rowBytes] bytes, more than the pixels need where Android aligns
 * them. What it does and refuses is what frameworks/base/graphics/java/android/graphics/Bitmap.java says.
 */
public class Bitmap(
    private val config: Config?,
    private val width: Int,
    private val height: Int,
    private val rowBytes: Int,
    private val hasAlpha: Boolean,
    private val isPremultiplied: Boolean,
    internal val memory: ByteArray,
    private val colorSpace: ColorSpace = ColorSpace.SRGB,
) {
    /** Android's, in its order; the last two came with Android 8 and 13. */
    public enum class Config { ALPHA_8, RGB_565, ARGB_4444, ARGB_8888, RGBA_F16, HARDWARE, RGBA_1010102 }

    private var isRecycled = false

    public fun getColorSpace(): ColorSpace = colorSpace

    public fun getConfig(): Config? = config

    public fun getWidth(): Int = width

    public fun getHeight(): Int = height

    public fun getRowBytes(): Int = rowBytes

    public fun getByteCount(): Int = rowBytes * height

    public fun hasAlpha(): Boolean = hasAlpha

    /** False as well for a bitmap without alpha, as Android says it. */
    public fun isPremultiplied(): Boolean = isPremultiplied && hasAlpha

    public fun isRecycled(): Boolean = isRecycled

    public fun recycle() {
        isRecycled = true
        recycled += this
    }

    public fun copyPixelsToBuffer(destination: Buffer) {
        check(!isRecycled) { "Can't call copyPixelsToBuffer() on a recycled bitmap" }
        check(config != Config.HARDWARE) {
            "unable to copyPixelsToBuffer, pixel access is not supported on Config#HARDWARE bitmaps"
        }
        // Android takes buffers of shorts and ints as well.
        if (destination !is ByteBuffer) throw RuntimeException("unsupported Buffer subclass")
        if (destination.remaining() < getByteCount()) throw RuntimeException("Buffer not large enough for pixels")
        destination.put(memory, 0, getByteCount())
    }

    /** Alpha, red, green and blue of each pixel, from the highest byte on: colours become premultiplied. */
    public fun setPixels(pixels: IntArray, offset: Int, stride: Int, x: Int, y: Int, width: Int, height: Int) {
        check(config == Config.ARGB_8888 && hasAlpha && isPremultiplied) { "other bitmaps are not for tests" }
        for (row in 0 until height) {
            for (column in 0 until width) {
                val pixel = pixels[offset + row * stride + column]
                val at = (y + row) * rowBytes + 4 * (x + column)
                val alpha = pixel ushr 24
                for ((place, shift) in listOf(16, 8, 0).withIndex()) {
                    memory[at + place] = ((pixel shr shift and 0xFF) * alpha / 255.0).let(Math::round).toByte()
                }
                memory[at + 3] = alpha.toByte()
            }
        }
    }

    /** Null where Android has no way from one to the other. */
    public fun copy(config: Config, isMutable: Boolean): Bitmap? {
        check(!isRecycled) { "Can't copy a recycled bitmap" }
        check(!isMutable && config == Config.ARGB_8888) { "other copies are not for tests" }
        val pixels = when (this.config) {
            Config.HARDWARE, Config.ARGB_8888 -> memory.copyOf()
            Config.RGB_565 -> expanded()
            else -> return null
        }
        val row = if (this.config == Config.RGB_565) 4 * width else rowBytes
        return Bitmap(config, width, height, row, hasAlpha, isPremultiplied, pixels, colorSpace).also { copies += it }
    }

    /** Five and six bits as eight, the upper ones again below. */
    private fun expanded(): ByteArray {
        val target = ByteArray(4 * width * height)
        for (at in 0 until width * height) {
            val from = at / width * rowBytes + at % width * 2
            val value = (memory[from].toInt() and 0xFF) or (memory[from + 1].toInt() and 0xFF shl 8)
            val (red, green, blue) = Triple(value shr 11, value shr 5 and 63, value and 31)
            target[4 * at] = (red shl 3 or (red shr 2)).toByte()
            target[4 * at + 1] = (green shl 2 or (green shr 4)).toByte()
            target[4 * at + 2] = (blue shl 3 or (blue shr 2)).toByte()
            target[4 * at + 3] = -1
        }
        return target
    }

    public companion object {
        /** What [copy] made and [recycle] ended, for tests to look at. */
        public val copies: MutableList<Bitmap> = mutableListOf()
        public val recycled: MutableList<Bitmap> = mutableListOf()

        @JvmStatic
        public fun createBitmap(width: Int, height: Int, config: Config): Bitmap =
            Bitmap(config, width, height, 4 * width, true, true, ByteArray(4 * width * height)).also { copies += it }
    }
}

/** The two that phones take pictures in. */
public class ColorSpace private constructor() {
    public fun isSrgb(): Boolean = this === SRGB

    public companion object {
        @JvmField public val SRGB: ColorSpace = ColorSpace()
        @JvmField public val DISPLAY_P3: ColorSpace = ColorSpace()
    }
}

public class Paint

/** Draws opaque pixels without gaps, in the colours of [target]: from Display P3 by the matrix of CSS Color 4. */
public class Canvas(private val target: Bitmap) {
    public fun drawBitmap(bitmap: Bitmap, left: Float, top: Float, paint: Paint?) {
        check(left == 0f && top == 0f && paint == null && target.getColorSpace().isSrgb()) { "not for tests" }
        check(bitmap.getConfig() != Bitmap.Config.HARDWARE) { "Software rendering doesn't support hardware bitmaps" }
        check(!bitmap.hasAlpha() && !bitmap.getColorSpace().isSrgb()) { "other pictures are not for tests" }
        for (pixel in 0 until bitmap.memory.size - 3 step 4) {
            val linear = List(3) { decoded((bitmap.memory[pixel + it].toInt() and 0xFF) / 255.0) }
            for ((at, row) in P3_TO_SRGB.withIndex()) {
                val mixed = row.indices.sumOf { row[it] * linear[it] }.coerceIn(0.0, 1.0)
                target.memory[pixel + at] = Math.round(255 * encoded(mixed)).toInt().toByte()
            }
            target.memory[pixel + 3] = -1
        }
    }

    private fun decoded(value: Double) = if (value <= 0.04045) value / 12.92 else Math.pow((value + 0.055) / 1.055, 2.4)

    private fun encoded(value: Double) =
        if (value <= 0.0031308) 12.92 * value else 1.055 * Math.pow(value, 1 / 2.4) - 0.055

    private companion object {
        val P3_TO_SRGB = listOf(
            listOf(1.2249401762805598, -0.22494017628055996, 0.0),
            listOf(-0.042056954709688163, 1.0420569547096881, 0.0),
            listOf(-0.019637554590334432, -0.078636045550631889, 1.0982736001409663),
        )
    }
}
