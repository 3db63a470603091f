package android.content

import android.net.Uri
import java.io.File
import java.io.FileInputStream
import java.io.FileNotFoundException
import java.io.InputStream

/** Providers of other apps. [provided] has what they give, by address. */
public object ContentResolver {
    public val provided: MutableMap<String, File> = mutableMapOf()
    private const val FORBIDDEN = "content://forbidden/"

    /** Before the name of what a provider throws. */
    private const val THROWS = "content://throws/"

    public fun openInputStream(uri: Uri): InputStream? {
        val address = uri.toString()
        if (address.startsWith(FORBIDDEN)) throw SecurityException("Permission Denial: opening provider")
        if (address.startsWith(THROWS)) {
            throw Class.forName(address.removePrefix(THROWS)).getConstructor(String::class.java).newInstance("its words") as Throwable
        }
        return FileInputStream(provided[address] ?: throw FileNotFoundException("No content provider: $address"))
    }
}
