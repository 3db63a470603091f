package apps

import com.example.models.RgbaPicture
import java.awt.image.BufferedImage

/** A picture of one pixel, as the platform has pictures. */
fun bitmap(red: Int, green: Int, blue: Int): BufferedImage =
    BufferedImage(1, 1, BufferedImage.TYPE_INT_ARGB).apply { setRGB(0, 0, 0xFF shl 24 or (red shl 16) or (green shl 8) or blue) }

/** The size and the colours of a picture that a model made. */
fun asBitmap(made: RgbaPicture): String {
    val image = made.toImage()
    val colours = image.getRGB(0, 0, image.width, image.height, null, 0, image.width)
    return "${image.width} x ${image.height} ${colours.map { "%08x".format(it) }}"
}
