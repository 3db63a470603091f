package apps

import com.example.models.LoadEvent
import com.example.models.ModelObserver
import com.example.models.Orientation
import com.example.models.Picture
import com.example.models.PixelFormat
import com.example.models.Region
import com.example.models.ReleaseEvent
import com.example.models.RunEvent
import com.example.models.Scan
import com.example.models.ScanItem
import com.example.models.YuvConversion
import device.report
import device.reportFailure
import java.nio.ByteBuffer
import java.util.Collections
import java.util.Locale
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.async
import kotlinx.coroutines.runBlocking

/** Shows pictures of every orientation to a pipeline whose stages say what they see, and ends it in several ways. */
fun main(arguments: Array<String>) {
    val task = Task(arguments)
    val small = task.bytes("small")
    Scan.loadBlocking(task.app, task.options).use { scan ->
        for (orientation in Orientation.entries) {
            val part = Region(1, 0, 6, 6)
            val picture = Picture(small, 7, 6, rowBytes = 28, orientation = orientation, region = part)
            report("RGBA ${orientation.exif}", scan.runBlocking(picture).joinToString(" / ") { line(it, false) })
            val camera = Picture(small, 8, 6, PixelFormat.NV21, orientation = orientation, conversion = YuvConversion.BT601_FULL)
            val items = runBlocking { scan.run(camera) }
            report("NV21 ${orientation.exif}", items.joinToString(" / ") { line(it, true) })
        }
        reportFailure("nine rows") { scan.runBlocking(Picture(small, 4, 9)) }
    }
    ended(task, small)
}

private fun line(item: ScanItem, hasChroma: Boolean): String {
    val box = item.box.box
    val corners = listOf(box.left, box.top, box.right, box.bottom).joinToString(" ") { "%.1f".format(Locale.ROOT, it) }
    val seen = item.seen
    val size = List(3, seen.size::get)
    val tint = if (hasChroma) numbers(seen.tint) else "-"
    val colour = item.colour?.joinToString(" ") { "%.6f".format(Locale.ROOT, it) }
    val score = "%.6f".format(Locale.ROOT, item.box.score)
    return "$corners $score | $size ${seen.turned.get(0)} | ${numbers(seen.seen)} | $tint | $colour"
}

private fun numbers(bytes: ByteBuffer) = (0 until bytes.capacity()).joinToString(" ") { "${bytes.get(it).toInt() and 0xFF}" }

private fun ended(task: Task, small: ByteBuffer) {
    val watching = Watching()
    val options = task.options.copy(observer = watching)
    runBlocking(Dispatchers.Default) {
        val scan = Scan.load(task.app, options)
        val job = Job()
        watching.onEmbedding = job::cancel
        val picture = Picture(small, 4, 6)
        val failure = runCatching { async(job) { scan.run(picture) }.await() }.exceptionOrNull()
        watching.onEmbedding = {}
        report("cancelled", "${kindOf(failure)} after ${watching.embeddings} run")
        report("run again", scan.run(picture).size)
        watching.released.clear()
        scan.close()
        scan.close()
        val closed = runCatching { scan.run(picture) }.exceptionOrNull()
        report("closed", "${watching.released.joinToString()}: ${closed?.javaClass?.simpleName}")
        watching.released.clear()
        val loading = Job()
        watching.onProbe = loading::cancel
        val unloaded = runCatching { async(loading) { Scan.load(task.app, options) }.await() }.exceptionOrNull()
        report("not loaded", "${watching.released.joinToString()}: ${kindOf(unloaded)}")
    }
}

private fun kindOf(failure: Throwable?) = if (failure is CancellationException) "CancellationException" else "$failure"

/** Calls back while a pipeline runs and loads, and keeps what was released. */
private class Watching : ModelObserver {
    val released: MutableList<String> = Collections.synchronizedList(mutableListOf())

    @Volatile
    var embeddings = 0

    @Volatile
    var onEmbedding: () -> Unit = {}

    @Volatile
    var onProbe: () -> Unit = {}

    override fun onLoad(event: LoadEvent) {
        if (event.model == "probe") onProbe()
    }

    override fun onRun(event: RunEvent) {
        if (event.model != "finder") return
        embeddings++
        onEmbedding()
    }

    override fun onRelease(event: ReleaseEvent) {
        released += event.model
    }
}
