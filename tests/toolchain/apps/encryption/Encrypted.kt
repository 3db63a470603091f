package apps

import android.os.SharedMemory
import com.example.models.FailureEvent
import com.example.models.ModelException
import com.example.models.ModelKeys
import com.example.models.ModelObserver
import com.example.models.Options
import com.example.models.Provider
import com.example.models.Scorer
import com.example.models.Source
import device.InstalledApp
import device.report
import java.io.File
import java.lang.reflect.InvocationTargetException
import java.nio.ByteBuffer
import javax.crypto.spec.SecretKeySpec

private const val KEY_ID = "models-1"

/** Loads encrypted models, right ones and changed ones, with right keys, wrong ones and none. */
fun main(arguments: Array<String>) {
    val values = arguments.associate { it.substringBefore('=') to it.substringAfter('=') }
    val app = InstalledApp(File(values.getValue("apk")), File(values.getValue("data")))
    val key = File(values.getValue("key")).readBytes()
    val asked = mutableListOf<String>()
    val keys = ModelKeys { id ->
        asked += id
        if (id == KEY_ID) key else throw NoSuchElementException("no key $id here")
    }
    val files = File(values.getValue("files"))
    tell("bundled", app, keys)
    tell("bundled again", app, keys)
    report("asked", asked.distinct().joinToString())
    asked.clear()
    freed(app, keys)
    report("asked for one that was freed", asked.size)
    refused(app, keys)
    tell("no keys", app, null)
    tell("another key", app, { ByteArray(32) { 1 } })
    tell("a key of zeros", app, { ByteArray(32) })
    tell("a short key", app, { ByteArray(16) })
    tell("no such key", app, { throw NoSuchElementException("no key here") })
    tell("folder", app, keys, Source.folder(File(values.getValue("folder"))))
    vectors(File(values.getValue("vectors")))
    for (file in files.listFiles().orEmpty().sortedBy(File::getName)) tell(file.name, app, keys, Source.file(file))
}

/** Opens the vectors, which are read by the library's own class of encrypted files. */
private fun vectors(folder: File) {
    val file = Class.forName("com.example.models.SealedFile")
    val companion = file.getDeclaredField("Companion").apply { isAccessible = true }.get(null)
    val of = companion.javaClass.getMethod("of", ByteBuffer::class.java, String::class.java).apply { isAccessible = true }
    val derived = file.getMethod("derived", ByteArray::class.java).apply { isAccessible = true }
    val open = file.getMethod("open", SecretKeySpec::class.java).apply { isAccessible = true }
    val bytes = Class.forName("com.example.models.Memory").getMethod("getBytes").apply { isAccessible = true }
    var opened = 0
    var refused = 0
    val wrong = mutableListOf<String>()
    for (sealed in folder.listFiles().orEmpty().filter { it.extension == "sealed" }) {
        val plain = File(folder, "${sealed.nameWithoutExtension}.plain").takeIf(File::exists)?.readBytes()
        val key = File(folder, "${sealed.nameWithoutExtension}.key").readBytes()
        val found = try {
            of.invoke(companion, ByteBuffer.wrap(sealed.readBytes()), sealed.name)?.let { bytes.invoke(open.invoke(it, derived.invoke(it, key))) as ByteBuffer }
        } catch (failure: InvocationTargetException) {
            if (failure.cause is ModelException) null else throw failure
        }
        if (found == null) refused++ else opened++
        if (found?.let { ByteArray(it.remaining()).also(it::get).toList() } != plain?.toList()) wrong += sealed.name
    }
    report("vectors", "opened $opened refused $refused")
    report("wrong vectors", wrong.joinToString())
}

private fun Scorer.answer(): Float {
    val input = Scorer.Input()
    for (index in 0 until input.x.capacity()) input.x.put(index, index / 64f)
    val answer = runBlocking(input).y
    return List(answer.capacity()) { answer.get(it) }.sum()
}

/** What a decrypted model has in memory while it is open, freed, open again and closed. */
private fun freed(app: InstalledApp, keys: ModelKeys) {
    Scorer.loadBlocking(app, Options(providers = listOf(Provider.CPU), keys = keys)).use { model ->
        report("memory.open", SharedMemory.mapped)
        app.callbacks.forEach { it.onLowMemory() }
        report("memory.freed", SharedMemory.mapped)
        report("memory.again", "opened ${model.answer()}")
    }
    report("memory.closed", SharedMemory.mapped)
}

/** Loads that lack memory, code or a permission. */
private fun refused(app: InstalledApp, keys: ModelKeys) {
    SharedMemory.most = 10
    tell("without memory", app, keys)
    SharedMemory.most = Long.MAX_VALUE
    tell("without Java's memory", app, { throw OutOfMemoryError("Java heap space") })
    tell("without code", app, { throw UnsatisfiedLinkError("dlopen failed") })
    report("memory.refused", SharedMemory.mapped)
}

private fun tell(name: String, app: InstalledApp, keys: ModelKeys?, source: Source = Source.bundled) {
    val told = mutableListOf<String>()
    val observer = object : ModelObserver {
        override fun onFailure(event: FailureEvent) {
            told += event.error.javaClass.simpleName
        }
    }
    try {
        val options = Options(providers = listOf(Provider.CPU), observer = observer, keys = keys)
        Scorer.loadBlocking(app, options, source).use { model ->
            report(name, "opened ${model.answer()}")
        }
    } catch (failure: Exception) {
        report(name, failure.javaClass.simpleName)
        report("words of $name", failure.message)
    }
    report("told of $name", told.joinToString())
}
