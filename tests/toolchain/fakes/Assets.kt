package android.content.res

import android.os.ParcelFileDescriptor
import java.io.Closeable
import java.io.File
import java.io.FileDescriptor
import java.io.FileInputStream
import java.io.FileNotFoundException
import java.io.FilterInputStream
import java.io.IOException
import java.io.InputStream
import java.io.RandomAccessFile
import java.nio.ByteBuffer
import java.nio.ByteOrder
import java.util.zip.ZipFile

/** Assets of an installed app, read from its .apk as Android does: a stored entry can be mapped, a deflated one not. */
public class AssetManager public constructor(private val apk: File) : AutoCloseable {
    @Throws(IOException::class)
    public fun open(fileName: String): InputStream {
        val zip = ZipFile(apk)
        val entry = zip.getEntry("assets/$fileName")
        if (entry == null) {
            zip.close()
            throw FileNotFoundException(fileName)
        }
        opened += fileName
        return AssetStream(zip.getInputStream(entry), zip)
    }

    @Throws(IOException::class)
    public fun openFd(fileName: String): AssetFileDescriptor {
        val entry = entries(apk)["assets/$fileName"] ?: throw FileNotFoundException(fileName)
        if (!entry.isStored) {
            // Android's words.
            throw FileNotFoundException("This file can not be opened as a file descriptor; it is probably compressed")
        }
        mapped += fileName
        return AssetFileDescriptor(apk, entry.start, entry.length)
    }

    override fun close() {}

    public companion object {
        /** Names given to [open] and [openFd] that were found, for tests to look at. */
        public val opened: MutableList<String> = java.util.Collections.synchronizedList(mutableListOf())
        public val mapped: MutableList<String> = java.util.Collections.synchronizedList(mutableListOf())
    }
}

/** A part of a file. Android's has more ways to read it; `createInputStream().channel` differs between versions. */
public class AssetFileDescriptor internal constructor(
    private val apk: File,
    private val start: Long,
    private val size: Long,
) : Closeable {
    private val file = FileInputStream(apk)

    public fun getFileDescriptor(): FileDescriptor = file.fd

    public fun getParcelFileDescriptor(): ParcelFileDescriptor = ParcelFileDescriptor(apk)

    public fun getStartOffset(): Long = start

    public fun getLength(): Long = size

    public fun getDeclaredLength(): Long = size

    override fun close(): Unit = file.close()
}

/** An asset read from start to end. The process dies after the number of bytes in the property `device.dies-after`. */
private class AssetStream(content: InputStream, private val zip: ZipFile) : FilterInputStream(content) {
    private var left = java.lang.Long.getLong("device.dies-after", Long.MAX_VALUE)

    override fun read(target: ByteArray, offset: Int, length: Int): Int {
        val count = super.read(target, offset, length)
        left -= maxOf(count, 0)
        if (left < 0) Runtime.getRuntime().halt(DIED)
        return count
    }

    override fun close(): Unit = zip.close()

    private companion object {
        const val DIED = 86
    }
}

private class Entry(val isStored: Boolean, val start: Long, val length: Long)

/** Entries of a zip by name, with the place of their data, which java.util.zip does not tell (APPNOTE.TXT 4.3). */
private fun entries(apk: File): Map<String, Entry> = RandomAccessFile(apk, "r").use { file ->
    val end = file.bytes(file.length() - END_SIZE, END_SIZE)
    check(end.getInt(0) == 0x06054b50) { "$apk is not a zip without a comment" }
    val directory = file.bytes(end.getUnsigned(16), end.getInt(12))
    buildMap {
        var at = 0
        while (at < directory.limit()) {
            val nameLength = directory.getShort(at + 28).toInt()
            val name = String(directory.array(), at + 46, nameLength)
            val header = directory.getUnsigned(at + 42)
            val lengths = file.bytes(header + 26, 4)
            val start = header + 30 + lengths.getShort(0) + lengths.getShort(2)
            put(name, Entry(directory.getShort(at + 10).toInt() == 0, start, directory.getUnsigned(at + 24)))
            at += 46 + nameLength + directory.getShort(at + 30) + directory.getShort(at + 32)
        }
    }
}

private const val END_SIZE = 22

private fun RandomAccessFile.bytes(at: Long, length: Int): ByteBuffer {
    val target = ByteArray(length)
    seek(at)
    readFully(target)
    return ByteBuffer.wrap(target).order(ByteOrder.LITTLE_ENDIAN)
}

private fun ByteBuffer.getUnsigned(at: Int): Long = getInt(at).toLong() and 0xFFFFFFFFL
