package android.os.storage

import java.io.File
import java.util.UUID

/** The storage of a device, on which apps keep what Android may remove. */
public object StorageManager {
    /** Bytes that would be free without it. */
    @Volatile
    public var allocatable: Long = 0

    /** Removes it. */
    @Volatile
    public var onAllocate: (Long) -> Unit = {}

    public fun getUuidForPath(@Suppress("UNUSED_PARAMETER") path: File): UUID = UUID(0, 0)

    public fun getAllocatableBytes(@Suppress("UNUSED_PARAMETER") place: UUID): Long = allocatable

    public fun allocateBytes(@Suppress("UNUSED_PARAMETER") place: UUID, bytes: Long): Unit = onAllocate(bytes)
}
