package android.system

import java.io.File
import java.io.FileDescriptor
import java.lang.foreign.Arena
import java.lang.foreign.FunctionDescriptor
import java.lang.foreign.Linker
import java.lang.foreign.ValueLayout.ADDRESS
import java.lang.foreign.ValueLayout.JAVA_INT
import java.nio.file.Files
import java.nio.file.attribute.FileTime
import java.util.concurrent.TimeUnit

public class ErrnoException(functionName: String, errno: Int) : Exception("$functionName failed: $errno")

/** Seconds and nanoseconds, as in C. */
public class StructTimespec(@JvmField public val tv_sec: Long, @JvmField public val tv_nsec: Long)

/** What Linux says of a file. */
public class StructStat(
    @JvmField public val st_ino: Long,
    @JvmField public val st_size: Long,
    @JvmField public val st_mtim: StructTimespec,
    @JvmField public val st_ctim: StructTimespec,
) {
    @JvmField public val st_mtime: Long = st_mtim.tv_sec
    @JvmField public val st_ctime: Long = st_ctim.tv_sec
}

public object OsConstants {
    public const val O_RDONLY: Int = 0
}

public object Os {
    /** Java tells a file's number nobody; `--add-opens java.base/java.io=ALL-UNNAMED` lets code look. */
    @JvmStatic
    public fun fstat(file: FileDescriptor): StructStat {
        val number = FileDescriptor::class.java.getDeclaredField("fd").apply { isAccessible = true }.getInt(file)
        val about = Files.readAttributes(File("/proc/self/fd/$number").toPath(), "unix:ino,size,lastModifiedTime,ctime")
        return StructStat(
            about.getValue("ino") as Long,
            about.getValue("size") as Long,
            timespec(about.getValue("lastModifiedTime") as FileTime),
            timespec(about.getValue("ctime") as FileTime),
        )
    }

    @JvmStatic
    public fun open(path: String, flags: Int, @Suppress("UNUSED_PARAMETER") mode: Int): FileDescriptor {
        check(flags == OsConstants.O_RDONLY) { "other flags are not for tests" }
        return call("open", path, flags).let { number ->
            FileDescriptor().also { NUMBER.setInt(it, number) }
        }
    }

    @JvmStatic
    public fun fsync(file: FileDescriptor) {
        synced += File("/proc/self/fd/${NUMBER.getInt(file)}").canonicalPath
        call("fsync", null, NUMBER.getInt(file))
        onSync()
    }

    /** Is called after [fsync]. */
    @Volatile
    public var onSync: () -> Unit = {}

    @JvmStatic
    public fun close(file: FileDescriptor) {
        call("close", null, NUMBER.getInt(file))
    }

    /** Folders of which [fsync] was called, for tests to look at. */
    public val synced: MutableList<String> = java.util.Collections.synchronizedList(mutableListOf())

    private val NUMBER = FileDescriptor::class.java.getDeclaredField("fd").apply { isAccessible = true }

    /** A function of the C library that takes a path, if there is one, and a number. */
    private fun call(name: String, path: String?, number: Int): Int {
        val linker = Linker.nativeLinker()
        val function = linker.defaultLookup().find(name).get()
        val result = Arena.ofConfined().use { arena ->
            if (path == null) {
                linker.downcallHandle(function, FunctionDescriptor.of(JAVA_INT, JAVA_INT)).invokeWithArguments(number)
            } else {
                linker.downcallHandle(function, FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT))
                    .invokeWithArguments(arena.allocateFrom(path), number)
            }
        } as Int
        if (result < 0) throw ErrnoException(name, result)
        return result
    }

    /** The C library's own, so that native code sees the variable. */
    @JvmStatic
    public fun setenv(name: String, value: String, overwrite: Boolean) {
        variables += "$name=$value ${if (overwrite) "always" else "once"} ${if (isRuntimeLoaded()) "late" else "early"}"
        val linker = Linker.nativeLinker()
        val function = linker.defaultLookup().find("setenv").get()
        Arena.ofConfined().use { arena ->
            linker.downcallHandle(function, FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_INT))
                .invokeWithArguments(arena.allocateFrom(name), arena.allocateFrom(value), if (overwrite) 1 else 0)
        }
    }

    /** Calls of [setenv], for tests to look at: late ones came after ONNX Runtime's native code. */
    public val variables: MutableList<String> = mutableListOf()

    private fun isRuntimeLoaded() = "libonnxruntime.so" in File("/proc/self/maps").readText()

    private fun timespec(time: FileTime): StructTimespec {
        val nanoseconds = time.to(TimeUnit.NANOSECONDS)
        return StructTimespec(Math.floorDiv(nanoseconds, NANOSECONDS), Math.floorMod(nanoseconds, NANOSECONDS))
    }

    private const val NANOSECONDS = 1_000_000_000L
}
