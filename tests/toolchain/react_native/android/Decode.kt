// Asks the Kotlin half of a package for pictures, one after the other, as JavaScript does, in Android's own framework.
package reactnative

import android.content.ContentProvider
import android.content.ContentValues
import android.database.Cursor
import android.net.Uri
import android.os.ParcelFileDescriptor
import com.example.contracts.reactnative.ContractsPackage
import com.example.contracts.reactnative.NativeContractsFilesAndroidSpec
import framework.report
import java.io.File
import java.io.FileNotFoundException
import org.robolectric.Robolectric
import org.robolectric.RuntimeEnvironment

/** Other apps: one has a picture, one has none, one forbids it, one throws what the address names. */
class Provider : ContentProvider() {
    override fun onCreate(): Boolean = true

    override fun openFile(uri: Uri, mode: String): ParcelFileDescriptor = when (uri.authority) {
        "media" -> ParcelFileDescriptor.open(picture, ParcelFileDescriptor.MODE_READ_ONLY)
        "forbidden" -> throw SecurityException("Permission Denial: opening provider")
        "throws" -> throw Class.forName(uri.lastPathSegment).getConstructor(String::class.java).newInstance("its words") as Throwable
        else -> throw FileNotFoundException("No content provider: $uri")
    }

    override fun getType(uri: Uri): String? = null

    override fun query(uri: Uri, names: Array<String>?, by: String?, with: Array<String>?, order: String?): Cursor? = null

    override fun insert(uri: Uri, values: ContentValues?): Uri? = null

    override fun update(uri: Uri, values: ContentValues?, by: String?, with: Array<String>?): Int = 0

    override fun delete(uri: Uri, by: String?, with: Array<String>?): Int = 0

    companion object {
        lateinit var picture: File
    }
}

fun main(arguments: Array<String>) {
    val given = arguments.associate { it.substringBefore('=') to it.substringAfter('=') }
    Provider.picture = File(given.getValue("provided"))
    for (authority in listOf("media", "forbidden", "throws", "gone")) {
        Robolectric.setupContentProvider(Provider::class.java, authority)
    }
    val app = RuntimeEnvironment.getApplication()
    val cache = File(app.cacheDir, "mobpack/Contracts").apply { mkdirs() }
    for (name in listOf("left.rgba", "old.txt", "read.rgba")) File(cache, name).writeText("pixels")
    for (name in listOf("left.rgba", "old.txt")) File(cache, name).setLastModified(1_000_000_000_000)
    val module = ContractsPackage().getModule("ContractsFilesAndroid", Phone(app)) as NativeContractsFilesAndroidSpec
    for (number in generateSequence(0) { it + 1 }.takeWhile { "uri.$it" in given }) {
        val answer = Answer()
        module.decode(given.getValue("uri.$number"), given.getValue("size.$number").toDouble(), answer)
        answer.await()
        answer.value?.getString("path")?.let { path ->
            report("$number.folder", File(path).parentFile == cache)
            File(path).copyTo(File(given.getValue("pixels"), "$number.rgba"))
            File(path).delete()
        }
        report("$number.left", cache.list().orEmpty().sorted().joinToString())
        for (name in listOf("width", "height", "orientation")) report("$number.$name", answer.value?.getDouble(name)?.toInt())
        report("$number.code", answer.code)
        report("$number.words", answer.words)
        report("$number.thread", answer.thread)
    }
}
