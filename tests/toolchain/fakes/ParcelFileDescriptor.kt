package android.os

import java.io.File

/** An open file, of which this process has a number as Linux counts them. */
public class ParcelFileDescriptor internal constructor(private val file: File) {
    /** Java does not tell the number: any that is open on the same file will do. */
    public fun getFd(): Int =
        File("/proc/self/fd").listFiles().orEmpty().first { it.canonicalFile == file.canonicalFile }.name.toInt()
}
