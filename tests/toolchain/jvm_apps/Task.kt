package apps

import com.example.models.Context
import com.example.models.Options
import java.io.File
import java.nio.ByteBuffer
import java.nio.ByteOrder
import java.nio.FloatBuffer
import java.nio.LongBuffer

/** What a test gives to a program on the desktop, as `name=value` arguments: folders for `data` and for `files`. */
class Task(arguments: Array<String>) {
    private val values = arguments.associate { it.substringBefore('=') to it.substringAfter('=') }

    val app = Context(File(values.getValue("data")))

    val options = Options()

    fun number(name: String): Int = values.getValue(name).toInt()

    fun text(name: String): String = values.getValue(name)

    fun file(name: String): File = File(values.getValue("files"), name)

    fun bytes(name: String): ByteBuffer = ByteBuffer.wrap(file(name).readBytes()).order(ByteOrder.LITTLE_ENDIAN)

    fun floats(name: String): FloatBuffer = bytes(name).asFloatBuffer()

    fun longs(name: String): LongBuffer = bytes(name).asLongBuffer()
}
