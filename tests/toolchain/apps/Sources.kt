package apps

import android.content.ComponentCallbacks2
import android.content.Context
import android.os.ParcelFileDescriptor
import android.os.SharedMemory
import android.os.storage.StorageManager
import com.example.models.OrientationModel
import com.example.models.Progress
import com.example.models.Source
import device.InstalledApp
import device.report
import device.reportFailure
import java.io.File
import java.lang.ref.WeakReference
import java.net.HttpURLConnection
import java.net.URI
import java.net.URL
import java.net.URLStreamHandler
import java.nio.ByteBuffer
import java.util.Collections
import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit
import kotlin.concurrent.thread
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.SupervisorJob
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking

/** Loads a model from the source that the test names, and tells what came of it. */
fun main(arguments: Array<String>) {
    val task = Task(arguments)
    if (task.has("cached")) {
        // What Android may remove from the disk.
        StorageManager.allocatable = Long.MAX_VALUE
        StorageManager.onAllocate = { File(task.text("cached")).delete() }
    }
    when (task.text("do")) {
        "load" -> load(task)
        "cancel" -> cancel(task)
        "together" -> together(task)
        "reopen" -> reopen(task)
        "held" -> held(task)
        "interfere" -> interfere(task)
        "screen" -> screen(task)
        "freed" -> freed(task)
        "before unlock" -> beforeUnlock(task)
        "connections" -> connections()
        "forbidden" -> forbidden(task)
        "remove" -> OrientationModel.removeDownloadsBlocking(task.app)
        "remove old" -> OrientationModel.removeOldDownloadsBlocking(task.app)
        "addresses" -> for (address in listOf("http://a.example/", "https://a.example/models", "models/")) {
            reportFailure(address) { Source.url(address) }
        }
    }
}

private fun source(task: Task): Source {
    val sha256 = if (task.has("sha256")) task.text("sha256") else null
    val at = task.text("at")
    return when (task.text("source")) {
        "bundled" -> Source.bundled
        "url" -> Source.url(at)
        "folder" -> Source.folder(File(at))
        "pack" -> Source.pack { at.ifEmpty { null } }
        "installed pack" -> Source.installedPack
        "file" -> Source.file(File(at), sha256)
        "bytes" -> Source.bytes(direct(File(at).readBytes()), sha256)
        "window" -> Source.bytes(window(File(at).readBytes(), task.number("offset")), sha256)
        "heap" -> Source.bytes(ByteBuffer.wrap(File(at).readBytes()), sha256)
        else -> Source.descriptor(
            ParcelFileDescriptor.open(File(at), ParcelFileDescriptor.MODE_READ_ONLY),
            task.number("offset").toLong(),
            File(at).length() - task.number("offset"),
            sha256,
        )
    }
}

private fun direct(bytes: ByteArray) = ByteBuffer.allocateDirect(bytes.size).put(bytes).apply { flip() }

/** [bytes] from [offset] on to the limit of a buffer that has more before and after. */
private fun window(bytes: ByteArray, offset: Int) = ByteBuffer.allocateDirect(offset + bytes.size + 100).apply {
    position(offset)
    put(bytes)
    limit(offset + bytes.size)
    position(offset)
}

private fun load(task: Task) = reportFailure("load") {
    val told = Collections.synchronizedList(mutableListOf<Progress>())
    runBlocking { OrientationModel.load(task.app, task.options, source(task)) { told += it } }.use { model ->
        report("progress", told.joinToString(",") { "${it.loadedBytes}/${it.totalBytes}" })
        reportModel(model.provider, model.fallbacks, model.info)
        report("asset", model.info.asset)
        report("answer", model.answer())
        val test = model.selfTestBlocking()
        report("self-test", "${test.passed} ${test.outputs.size}")
    }
}

private fun page() = OrientationModel.Input(dynamicDimension0 = 1).also { input ->
    for (index in 0 until input.x.capacity()) input.x.put(index, (index % 255) / 255f)
}

private fun OrientationModel.answer() = runBlocking(page()).fetchName0.let { answer -> List(answer.capacity()) { answer.get(it) } }

/** Has a model opened again, by a run and for a profile, after its downloads were removed. */
private fun reopen(task: Task) = OrientationModel.loadBlocking(task.app, task.options, source(task)).use { model ->
    OrientationModel.removeDownloadsBlocking(task.app)
    (task.app.callbacks.single() as ComponentCallbacks2).onLowMemory()
    report("answer", model.answer())
    report("profile", model.profileBlocking(page(), runs = 1).length() > 0)
}

/** Ends a model, or a call, while weights that are gone are fetched once more, and tells what had come by then. */
private fun held(task: Task) = runBlocking {
    val model = OrientationModel.load(task.app, task.options, source(task))
    val kept = File(task.text("kept"))
    kept.listFiles().orEmpty().forEach { it.delete() }
    (task.app.callbacks.single() as ComponentCallbacks2).onLowMemory()
    val isCancelled = task.text("end") == "cancel"
    val call = async(Dispatchers.Default + SupervisorJob()) {
        if (isCancelled) model.run(page()) else model.runBlocking(page())
    }
    while (kept.listFiles().orEmpty().none { it.name.endsWith(".part") && it.length() > 0 }) delay(1)
    if (isCancelled) call.cancelAndJoin() else model.close()
    report("came", kept.list().orEmpty().filterNot { '.' in it })
    reportFailure("call") { runBlocking { call.await() } }
    if (isCancelled) report("answer", model.answer())
    model.close()
}

/** Removes downloads as soon as the first bytes have come. */
private fun interfere(task: Task) = runBlocking {
    var isRemoved = false
    val model = OrientationModel.load(task.app, task.options, source(task)) {
        if (it.loadedBytes > 0 && !isRemoved) {
            isRemoved = true
            OrientationModel.removeDownloadsBlocking(task.app)
            thread { OrientationModel.removeDownloadsBlocking(task.app) }.join()
        }
    }
    report("removed", isRemoved)
    model.use { report("answer", it.answer()) }
}

/** Whether the screen that hears of a load's progress is kept by the model. */
private fun screen(task: Task) {
    val (model, screen) = shown(task)
    val end = System.nanoTime() + 60_000_000_000
    while (screen.get() != null && System.nanoTime() < end) {
        System.gc()
        Thread.sleep(10)
    }
    report("screen", screen.get())
    model.close()
}

private fun shown(task: Task): Pair<OrientationModel, WeakReference<Any>> {
    val screen = Any()
    val told = mutableListOf<Any>()
    val model = runBlocking { OrientationModel.load(task.app, task.options, source(task)) { told += screen } }
    return model to WeakReference(screen)
}

/** What a copied model has in memory while it is open, freed, open again and closed. */
private fun freed(task: Task) {
    OrientationModel.loadBlocking(task.app, task.options, source(task)).use { model ->
        report("answer", model.answer())
        report("open", SharedMemory.mapped)
        task.app.callbacks.forEach { it.onLowMemory() }
        report("freed", SharedMemory.mapped)
        report("again", model.answer())
        report("open again", SharedMemory.mapped)
    }
    report("closed", SharedMemory.mapped)
}

/** An app before the device was unlocked: its usual storage cannot be read. */
private class Locked(task: Task) : InstalledApp(File(task.text("apk")), File(task.text("data"))) {
    private val early = InstalledApp(File(task.text("apk")), File(task.text("early")))
    private val apk = File(task.text("apk"))
    private val data = File(task.text("data"))

    override fun getNoBackupFilesDir(): File = error("the device is locked")

    override fun createDeviceProtectedStorageContext(): Context = object : InstalledApp(apk = apk, data = data) {
        override fun getNoBackupFilesDir(): File = early.getNoBackupFilesDir()

        override fun getApplicationContext(): Context = this@Locked

        override fun isDeviceProtectedStorage(): Boolean = true
    }
}

private fun beforeUnlock(task: Task) {
    val context = Locked(task).createDeviceProtectedStorageContext()
    reportFailure("load") { OrientationModel.loadBlocking(context, task.options, source(task)).use { it.answer() } }
}

/** A load without the permission for the network, which Android refuses with an exception of its own. */
private fun forbidden(task: Task) {
    URL.setURLStreamHandlerFactory { protocol -> if (protocol == "https") Forbidden() else null }
    load(task)
}

private class Forbidden : URLStreamHandler() {
    override fun openConnection(url: URL) : Nothing = throw SecurityException("Permission denied")
}

/** A connection that cannot be ended before it is open. */
private class Slow : HttpURLConnection(URI("https://a.example/").toURL()) {
    val isOpen = CountDownLatch(1)
    val isEnded = CountDownLatch(1)

    override fun disconnect() {
        if (isOpen.count == 0L) isEnded.countDown()
    }

    override fun usingProxy(): Boolean = false

    override fun connect(): Unit = Unit

    override fun getResponseCode(): Int = 200
}

/** A request that is cancelled before its connection is open. Java sees what is internal to the package. */
private fun connections() {
    val (loadings, deadlines, patiences) = listOf("Loading", "Deadline", "Patience").map { Class.forName("com.example.models.$it") }
    val patience = patiences.getConstructor(Long::class.java, Long::class.java).newInstance(60_000, 60_000)
    val deadline = deadlines.getConstructor(Long::class.java, Long::class.java).newInstance(3_600_000, 0)
    val loading = loadings.getConstructor(patiences, Function1::class.java).newInstance(patience, { _: Any -> })
    val use = loadings.getMethod("use", HttpURLConnection::class.java, deadlines, Function1::class.java)
    val work = { connection: Slow ->
        loadings.getMethod("cancel").invoke(loading)
        connection.isOpen.countDown()
        connection.isEnded.await(60, TimeUnit.SECONDS)
    }
    report("ended", use.invoke(loading, Slow(), deadline, work))
}

/** Ends a load when its first bytes have come. */
private fun cancel(task: Task) = runBlocking {
    val begun = CountDownLatch(1)
    val loading = launch(Dispatchers.Default) {
        try {
            OrientationModel.load(task.app, task.options, source(task)) { if (it.loadedBytes > 0) begun.countDown() }
            report("ended", "loaded")
        } catch (cancelled: CancellationException) {
            report("ended", "cancelled")
            throw cancelled
        }
    }
    begun.await()
    loading.cancelAndJoin()
}

private fun together(task: Task) = runBlocking {
    val models = List(3) { async(Dispatchers.IO) { OrientationModel.load(task.app, task.options, source(task)) } }.awaitAll()
    report("loaded", models.size)
    models.forEach { it.close() }
}
