package android.util

import java.io.File
import java.io.FileInputStream
import java.io.FileOutputStream

/** A file that is written under another name first, as Android does since version 11. */
public class AtomicFile public constructor(private val baseName: File) {
    private val newName = File("$baseName.new")

    public fun openRead(): FileInputStream = FileInputStream(baseName)

    public fun startWrite(): FileOutputStream = FileOutputStream(newName)

    public fun finishWrite(stream: FileOutputStream) {
        stream.fd.sync()
        stream.close()
        check(newName.renameTo(baseName)) { "$baseName cannot be replaced" }
    }

    public fun failWrite(stream: FileOutputStream) {
        stream.close()
        newName.delete()
    }
}
