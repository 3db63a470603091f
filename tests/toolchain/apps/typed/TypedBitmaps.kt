package apps

import android.graphics.Bitmap
import com.example.models.RgbaPicture
import java.nio.ByteBuffer

/** A picture of one pixel, as the platform has pictures. */
fun bitmap(red: Int, green: Int, blue: Int): Bitmap =
    Bitmap(Bitmap.Config.ARGB_8888, 1, 1, 4, true, true, byteArrayOf(red.toByte(), green.toByte(), blue.toByte(), -1))

/** The size and the memory of a picture that a model made. */
fun asBitmap(made: RgbaPicture): String {
    val bitmap = made.toBitmap()
    val memory = ByteBuffer.allocate(bitmap.getByteCount()).also(bitmap::copyPixelsToBuffer).array()
    return "${bitmap.getWidth()} x ${bitmap.getHeight()} ${memory.toList()}"
}
