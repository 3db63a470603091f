package apps

import android.content.ComponentCallbacks2
import android.os.ParcelFileDescriptor
import com.example.models.OrientationModel
import com.example.models.Progress
import com.example.models.Source
import device.report
import device.reportFailure
import java.io.File
import java.nio.ByteBuffer
import java.util.Collections
import java.util.concurrent.CountDownLatch
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking

/** Loads a model from the source that the test names, and tells what came of it. */
fun main(arguments: Array<String>) {
    val task = Task(arguments)
    when (task.text("do")) {
        "load" -> load(task)
        "cancel" -> cancel(task)
        "together" -> together(task)
        "reopen" -> reopen(task)
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

private fun page() = OrientationModel.Input.allocate(dynamicDimension0 = 1).also { input ->
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
