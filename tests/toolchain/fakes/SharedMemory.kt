package android.os

import android.system.ErrnoException
import java.io.Closeable
import java.lang.foreign.Arena
import java.lang.foreign.MemorySegment
import java.nio.ByteBuffer
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicLong

/** Memory outside of Java's heap, which is gone as soon as nobody maps it. */
public class SharedMemory private constructor(private val size: Int) : Closeable {
    public fun mapReadWrite(): ByteBuffer {
        val arena = Arena.ofShared()
        val bytes = arena.allocate(size.toLong(), PAGE_BYTES).asByteBuffer()
        total.addAndGet(size.toLong())
        arenas[addressOf(bytes)] = arena
        return bytes
    }

    override fun close() {}

    public companion object {
        private fun addressOf(bytes: ByteBuffer) = MemorySegment.ofBuffer(bytes.duplicate().clear()).address()

        private const val PAGE_BYTES = 4096L
        private const val ENOMEM = 12
        private val arenas = ConcurrentHashMap<Long, Arena>()

        /** Bytes that are mapped now, for tests to look at. */
        public val mapped: Long get() = total.get()
        private val total = AtomicLong()

        /** The most that there is, as tests set it. */
        @Volatile
        public var most: Long = Long.MAX_VALUE

        @JvmStatic
        public fun create(@Suppress("UNUSED_PARAMETER") name: String?, size: Int): SharedMemory {
            if (mapped + size > most) throw ErrnoException("SharedMemory_create", ENOMEM)
            return SharedMemory(size)
        }

        @JvmStatic
        public fun unmap(buffer: ByteBuffer) {
            arenas.remove(addressOf(buffer))!!.close()
            total.addAndGet(-buffer.capacity().toLong())
        }
    }
}
