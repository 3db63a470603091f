package com.example.picture

import android.content.ContentResolver
import android.graphics.Bitmap
import android.graphics.BitmapFactory
import android.graphics.Matrix
import android.media.ExifInterface
import android.net.Uri
import com.example.vision.Orientation
import java.io.FileNotFoundException
import java.io.IOException

/** A picture file as it is decoded: the pixels as the camera wrote them, and how they have to be turned. */
class Photo(val bitmap: Bitmap, val orientation: Orientation) {
    /** The picture as people see it. The model needs no such copy. */
    fun upright(): Bitmap {
        if (orientation == Orientation.UP) return bitmap
        val turned = Matrix()
        turned.setRotate(degrees())
        if (orientation in MIRRORED) turned.postScale(-1f, 1f)
        return Bitmap.createBitmap(bitmap, 0, 0, bitmap.width, bitmap.height, turned, true)
    }

    /** The clockwise turn; left and right of those in [MIRRORED] are swapped afterwards. */
    private fun degrees(): Float = when (orientation) {
        Orientation.UP, Orientation.UP_MIRRORED -> 0f
        Orientation.RIGHT, Orientation.LEFT_MIRRORED -> 90f
        Orientation.DOWN, Orientation.DOWN_MIRRORED -> 180f
        Orientation.LEFT, Orientation.RIGHT_MIRRORED -> 270f
    }

    companion object {
        private val MIRRORED = setOf(
            Orientation.UP_MIRRORED,
            Orientation.DOWN_MIRRORED,
            Orientation.LEFT_MIRRORED,
            Orientation.RIGHT_MIRRORED,
        )

        /** Larger pictures are read at a half, a quarter ... of their size: the model looks at 224 pixels. */
        private const val LONGEST_SIDE = 2048

        /**
         * @throws IOException when there is no picture at [uri]
         * @throws SecurityException when the app may not read it any more
         */
        fun read(resolver: ContentResolver, uri: Uri): Photo {
            val stream = resolver.openInputStream(uri) ?: throw FileNotFoundException(uri.toString())
            val bytes = stream.use { it.readBytes() }
            val exif = ExifInterface(bytes.inputStream())
            val number = exif.getAttributeInt(ExifInterface.TAG_ORIENTATION, ExifInterface.ORIENTATION_UNDEFINED)
            return Photo(decoded(bytes), Orientation.ofExif(number))
        }

        private fun decoded(bytes: ByteArray): Bitmap {
            val options = BitmapFactory.Options()
            options.inJustDecodeBounds = true
            BitmapFactory.decodeByteArray(bytes, 0, bytes.size, options)
            options.inJustDecodeBounds = false
            val longest = maxOf(options.outWidth, options.outHeight)
            options.inSampleSize = Integer.highestOneBit(longest / LONGEST_SIDE).coerceAtLeast(1)
            return BitmapFactory.decodeByteArray(bytes, 0, bytes.size, options) ?: throw IOException("no picture")
        }
    }
}
