package android.media

import android.graphics.Rect
import java.nio.ByteBuffer

/** A frame of a camera. [cropRect] is all of it unless a test says otherwise. */
public class Image(
    private val format: Int,
    private val width: Int,
    private val height: Int,
    private val planes: Array<Plane>,
    private val cropRect: Rect = Rect(0, 0, width, height),
) {
    public class Plane(
        private val buffer: ByteBuffer,
        private val rowStride: Int,
        private val pixelStride: Int,
    ) {
        public fun getRowStride(): Int = rowStride

        public fun getPixelStride(): Int = pixelStride

        public fun getBuffer(): ByteBuffer = buffer
    }

    public fun getFormat(): Int = format

    public fun getWidth(): Int = width

    public fun getHeight(): Int = height

    public fun getPlanes(): Array<Plane> = planes

    public fun getCropRect(): Rect = cropRect
}
