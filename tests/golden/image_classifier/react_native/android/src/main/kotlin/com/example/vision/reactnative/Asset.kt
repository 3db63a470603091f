package com.example.vision.reactnative

import android.content.Context
import java.io.File
import java.io.FileNotFoundException
import java.io.FileOutputStream
import java.io.IOException
import java.io.RandomAccessFile

/** Where the bytes of a file are: from [offset] on in the file at [path]. */
internal class Place(val path: String, val offset: Long)

/** A file among the app's assets. [size] is what it must have in bytes, negative when nobody knows. */
internal class Asset(private val context: Context, private val name: String, private val size: Long) {
    /**
     * The place of the bytes.
     *
     * An asset that is stored as it is, as Android's Gradle plugin does with all whose names end in `.tflite`, is used
     * where it lies; a compressed one is first copied to the app's private storage, again after each update of the app.
     */
    fun locate(): Place {
        if (name.split('/').any { it == ".." || it.isEmpty() }) {
            throw FileException("missing", "the app has no asset $name")
        }
        return placeInPackage() ?: Place(copy().canonicalPath, 0)
    }

    /** Null for an asset that is compressed, or that lies where some processors cannot read numbers in place. */
    private fun placeInPackage(): Place? {
        val descriptor = try {
            context.assets.openFd(name)
        } catch (compressed: IOException) {
            return null
        }
        return descriptor.use {
            if (it.startOffset % ALIGNMENT_BYTES != 0L) return null
            check(it.length)
            // The assets of an app may lie in several packages: the link says in which this one does.
            Place(File("/proc/self/fd/${it.parcelFileDescriptor.fd}").canonicalPath, it.startOffset)
        }
    }

    private fun check(found: Long) {
        if (size >= 0 && found != size) {
            throw FileException("corrupted", "$name has $found bytes, the package was built with $size")
        }
    }

    /** The copy, made now if there is none. Another process of the app that does the same waits for this one. */
    private fun copy(): File = synchronized(copying) {
        val target = File(context.noBackupFilesDir, name)
        val folder = target.absoluteFile.parentFile ?: throw FileException("missing", "the app has no asset $name")
        if (!folder.isDirectory && !folder.mkdirs()) throw FileException("unreadable", "cannot make $folder")
        RandomAccessFile(File(folder, LOCK), "rw").use { file ->
            file.channel.lock().use {
                if (!isCurrent(target)) replace(target)
            }
        }
        target
    }

    private val app = "${context.packageCodePath} ${File(context.packageCodePath).lastModified()}"

    /** Says of a copy how large it was when it was made, and from which app. */
    private fun note(copy: File) = File("$copy.copied")

    private fun isCurrent(copy: File): Boolean {
        val note = note(copy)
        return note.isFile && note.readText() == "${copy.length()} $app" && (size < 0 || copy.length() == size)
    }

    private fun replace(copy: File) {
        removeOlder(copy.absoluteFile.parentFile ?: copy)
        copy.delete()
        note(copy).delete()
        val unfinished = File("$copy.unfinished")
        try {
            write(unfinished)
            check(unfinished.length())
            if (!unfinished.renameTo(copy)) throw FileException("unreadable", "cannot rename $unfinished to $copy")
            note(copy).writeText("${copy.length()} $app")
        } finally {
            unfinished.delete()
        }
    }

    private fun write(file: File) {
        try {
            context.assets.open(name).use { source ->
                FileOutputStream(file).use { target ->
                    source.copyTo(target)
                    target.fd.sync()
                }
            }
        } catch (missing: FileNotFoundException) {
            throw FileException("missing", "the app has no asset $name", missing)
        } catch (failure: IOException) {
            if (failure.message?.contains(FULL) != true) throw failure
            throw FileException("no-space", "there is no room for a copy of $name", failure)
        }
    }

    /** Copies that an earlier version of the app made are never read again. */
    private fun removeOlder(folder: File) {
        val notes = folder.listFiles { file -> file.extension == "copied" }.orEmpty()
        for (old in notes.filterNot { it.readText().endsWith(app) }) {
            File(old.path.removeSuffix(".copied")).delete()
            old.delete()
        }
    }

    private companion object {
        const val ALIGNMENT_BYTES = 4L
        const val LOCK = "lock"

        /** How Linux words that a disk is full. */
        const val FULL = "No space left on device"

        /** One copy at a time: a process cannot lock the same file twice. */
        val copying = Any()
    }
}
