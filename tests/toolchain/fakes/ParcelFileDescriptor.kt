package android.os

import java.io.File
import java.io.FileDescriptor
import java.io.FileInputStream

/** An open file, of which this process has a number as Linux counts them. */
public class ParcelFileDescriptor internal constructor(private val file: File) : AutoCloseable {
    private val opened by lazy { FileInputStream(file) }

    public fun getFileDescriptor(): FileDescriptor = opened.fd

    override fun close(): Unit = opened.close()

    public companion object {
        public const val MODE_READ_ONLY: Int = 0x10000000

        @JvmStatic
        public fun open(file: File, @Suppress("UNUSED_PARAMETER") mode: Int): ParcelFileDescriptor =
            ParcelFileDescriptor(file)
    }

    /** Java does not tell the number: any that is open on the same file will do. */
    public fun getFd(): Int =
        File("/proc/self/fd").listFiles().orEmpty().first { it.canonicalFile == file.canonicalFile }.name.toInt()
}
