package apps

import com.example.models.Artist
import com.example.models.Classifier
import com.example.models.Detector
import com.example.models.Embedder
import com.example.models.Finder
import com.example.models.Judge
import com.example.models.ListenerModel
import com.example.models.Noter
import com.example.models.Picture
import com.example.models.PixelFormat
import com.example.models.Player
import com.example.models.Ranker
import com.example.models.ReaderModel
import com.example.models.Recorder
import com.example.models.RowsModel
import com.example.models.Segmenter
import com.example.models.Several
import com.example.models.Similarity
import com.example.models.Sound
import com.example.models.Speller
import com.example.models.Tagger
import com.example.models.Tokens
import com.example.models.Topics
import com.example.models.Wide
import device.report
import device.reportFailure
import java.nio.ByteBuffer
import java.nio.ByteOrder
import java.nio.FloatBuffer
import java.util.concurrent.CountDownLatch
import kotlin.concurrent.thread
import kotlin.coroutines.Continuation
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.coroutines.startCoroutine
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Job
import kotlinx.coroutines.async
import kotlinx.coroutines.runBlocking

/** Asks models of every kind for what they see and hear. */
fun main(arguments: Array<String>) {
    val task = Task(arguments)
    classes(task)
    Detector.loadBlocking(task.app, task.options).use { report("detections", it.detectBlocking(grey(4, 2))) }
    masks(task)
    paintings(task)
    Finder.loadBlocking(task.app, task.options).use { report("embedding", it.embedBlocking(pixel(51, 102, 204)).joinToString(" ")) }
    ReaderModel.loadBlocking(task.app, task.options).use {
        report("reading", it.readBlocking(grey(6, 1)))
        report("reading of nothing", it.readBlocking(Picture(bytes(9), 1, 1, PixelFormat.GREY)))
    }
    severals(task)
    states(task)
    sounds(task)
    played(task)
    texts(task)
    tokens(task)
    entities(task)
    ranks(task)
    similarity(task)
    lists(task)
}

private fun classes(task: Task) {
    val model = Classifier.loadBlocking(task.app, task.options)
    report("classes", model.classifyBlocking(pixel(51, 102, 204)))
    report("classes that tie", model.classifyBlocking(pixel(204, 102, 51), 2).map { it.index })
    report("classes of a bitmap", model.classifyBlocking(bitmap(51, 102, 204), top = 1))
    val done = CountDownLatch(2)
    later({ model.classify(pixel(51, 102, 204), 1) }) {
        report("classes later", it)
        done.countDown()
    }
    later({ model.classify(bitmap(51, 102, 204), top = 1) }) {
        report("classes of a bitmap later", it)
        done.countDown()
    }
    done.await()
    val wrong = List(4) { number ->
        var differs = 0
        val picture = pixel(60 * number, 102, 0)
        val first = model.classifyBlocking(picture)
        val worker = thread { repeat(50) { if (model.classifyBlocking(picture) != first) differs++ } }
        worker to { differs to first.map { it.score } }
    }.map { (worker, result) -> worker.join().let { result() } }
    report("classes from threads", wrong)
    val overloads = model.javaClass.methods.filter { it.name == "classifyBlocking" }
    report("overloads", overloads.map { each -> each.parameterTypes.joinToString(",") { it.simpleName } }.sorted())
    reportFailure("no classes") { model.classifyBlocking(pixel(1, 2, 3), 0) }
    model.close()
    reportFailure("classify after close") { model.classifyBlocking(pixel(1, 2, 3)) }
    Wide.loadBlocking(task.app, task.options).use { report("classes of many", it.classifyBlocking(pixel(255, 0, 0))) }
}

private fun masks(task: Task) = Segmenter.loadBlocking(task.app, task.options).use { model ->
    val mask = model.segmentBlocking(grey(3, 2))
    report("mask", "${mask.width} x ${mask.height} ${mask.classes.toList()} ${mask.labels}")
    report("mask at 1, 1", "${mask.classAt(1, 1)} ${mask.scoreAt(1, 1)}")
    reportFailure("mask at 3, 0") { mask.classAt(3, 0) }
    reportFailure("mask at 0, -1") { mask.scoreAt(0, -1) }
}

private fun paintings(task: Task) = Artist.loadBlocking(task.app, task.options).use { model ->
    val made = model.renderBlocking(Picture(bytes(10, 20, 200, 128, 1, 2, 3, 255, 9, 9, 9, 0), 1, 3))
    report("picture", "${made.width} x ${made.height} ${made.pixels.toList()}")
    report("picture as a bitmap", asBitmap(made))
}

private fun severals(task: Task) = Several.loadBlocking(task.app, task.options).use { model ->
    val lengths = ByteBuffer.allocateDirect(48).order(ByteOrder.nativeOrder()).asLongBuffer()
    for (at in 0 until 6) lengths.put(at, at + 1L)
    val prediction = model.predictBlocking(pixel(51, 102, 204), lengths, batch = 3)
    val doubled = List(6, prediction.doubled::get)
    report("several", "${prediction.logits.map { it.label }} $doubled ${prediction.doubledShape.toList()}")
    reportFailure("a size that does not fit") { model.predictBlocking(pixel(1, 2, 3), lengths) }
}

private fun states(task: Task) = ListenerModel.loadBlocking(task.app, task.options).use { model ->
    fun heard() = model.classifyBlocking(Sound(floatArrayOf(0.25f, 0.75f), 24_000)).sortedBy { it.index }.map { it.score }
    report("heard first", heard())
    report("heard second", heard())
    report("heard third", heard())
    reportFailure("no classes of a state") { model.classifyBlocking(Sound(floatArrayOf(0f), 8_000), 0) }
    reportFailure("a sound that the model refuses") { model.classifyBlocking(Sound(FloatArray(7), 8_000)) }
    model.reset()
    report("heard after reset", heard())
    model.reset()
    List(4) { thread { repeat(25) { heard() } } }.forEach(Thread::join)
    report("heard after 100 from threads", heard())
}

private fun sounds(task: Task) = Recorder.loadBlocking(task.app, task.options).use { model ->
    fun Sound.heard() = model.predictBlocking(this).let { found ->
        val samples = List(found.heard.capacity(), found.heard::get)
        "$samples ${found.heardShape.toList()} ${found.rate.get(0)} ${found.count.get(0)}"
    }
    report("shorts", Sound(shortArrayOf(1, -2, 32767, -32768), 8_000, 2).heard())
    report("floats", Sound(floatArrayOf(0f, 0.5f, -1f, 1f, 2f, -2f, Float.NaN, 1e-5f), 16_000).heard())
    val direct = ByteBuffer.allocateDirect(16).order(ByteOrder.nativeOrder())
    val moved = direct.asShortBuffer().put(shortArrayOf(1, 2, 3, 4, 5, 6, 7, 8))
    report("shorts in direct memory", Sound(moved, 8_000).heard())
    report("shorts of foreign order", Sound(ByteBuffer.allocateDirect(4).put(3, 1).asShortBuffer(), 8_000).heard())
    ListenerModel.loadBlocking(task.app, task.options).use { other ->
        val heard = other.classifyBlocking(Sound(shortArrayOf(16384, 8192), 48_000))
        report("shorts as floats", heard.first { it.index == 0 }.score)
    }
    reportFailure("no samples") { model.predictBlocking(Sound(FloatArray(0), 8_000)) }
    reportFailure("half a frame") { Sound(FloatArray(3), 8_000, 2) }
    reportFailure("no rate") { Sound(FloatBuffer.allocate(1), 0) }
    reportFailure("no channels") { Sound(ShortArray(1), 8_000, 0) }
}

private fun played(task: Task) = Player.loadBlocking(task.app, task.options).use { model ->
    val steps = floatArrayOf(0f, 0.5f, -0.5f, 1.5f, -1.5f, 32766.5f, -32767.5f, 1e6f, -1e6f, Float.NaN)
    val samples = FloatArray(steps.size) { steps[it] / 32768 }
    val found = model.renderBlocking(Sound(samples, 8_000, 2))
    report("played", "${found.rate} ${found.channels} ${found.frames} ${found.toFloatArray().last()}")
    report("wav", found.toWav().toList())
    report("wav of whole", Sound(shortArrayOf(0, 1, 0, 2), 44_100, 2).toWav().drop(44))
    val nothing = model.renderBlocking(Sound(samples, 9_000, 2))
    report("nothing played", "${nothing.frames} ${nothing.toWav().size}")
    reportFailure("nothing heard") { model.renderBlocking(nothing) }
}

private fun texts(task: Task) = Speller.loadBlocking(task.app, task.options).use { model ->
    fun points(text: String) = model.predictBlocking(text).spelled.let { found -> List(found.capacity(), found::get) }
    report("code points", points("a\u0000\u00e9\uD83D\uDE00"))
    report("lone surrogates", points("\uDE00\uD83D"))
    report("no text", points(""))
    val long = points("ab".repeat(524_288))
    report("long text", "${long.size} ${long.last()}")
}

/** Texts as the test writes them: the number of units of each, and these. */
private fun tokens(task: Task) = Tokens.loadBlocking(task.app, task.options).use { model ->
    report("tokens", written(task, "texts").map { text -> model.predictBlocking(text).ids.let { List(it.capacity(), it::get) } })
}

private fun written(task: Task, name: String): List<String> {
    val units = task.bytes(name).asIntBuffer()
    val found = mutableListOf<String>()
    while (units.hasRemaining()) found += String(CharArray(units.get()) { units.get().toChar() })
    return found
}

private fun entities(task: Task) = Tagger.loadBlocking(task.app, task.options).use { model ->
    val text = "\uD83D\uDE00\uD83D\uDE001\u00e9 e\u0301\uD83D\uDC682\uD83D\uDE00x3\u05d04!"
    report("entities", model.entitiesBlocking(text))
    Noter.loadBlocking(task.app, task.options).use { other ->
        val found = other.predictBlocking("7ab", text)
        report("entities of the second text", "${found.tags == model.entitiesBlocking(text)} ${found.copied.capacity()}")
    }
    report("entities of nothing", model.entitiesBlocking(""))
    val alone = model.entitiesBlocking("\uDE00\uD83D1\uDE00z2\uD83D")
    report("entities of lone surrogates", "${alone.map { it.start }} ${alone[0].text == "1\uDE00"}")
}

private fun ranks(task: Task) = Ranker.loadBlocking(task.app, task.options).use { model ->
    val documents = listOf("b", "a", "banana", "", "\uD83D\uDE00ananas", "aa", "a")
    report("score", model.scoreBlocking("a", "banana"))
    report("ranked", model.rankBlocking("a", documents))
    report("ranked of none", model.rankBlocking("a", emptyList()))
    runBlocking {
        report("ranked later", model.rank("a", documents))
        lateinit var job: Job
        var last = 0
        val many = object : AbstractList<String>() {
            override val size = 1000
            override fun get(index: Int): String = "a".also {
                last = index
                if (index == 2) job.cancel()
            }
        }
        job = async(start = CoroutineStart.LAZY) { model.rank("a", many) }
        job.join()
        report("ranked until cancelled", "${job.isCancelled} $last")
    }
}

private fun similarity(task: Task) {
    val numbers = task.floats("vectors")
    val vectors = List(12) { FloatArray(33) { numbers.get() } }
    report("cosines", vectors.map { Similarity.cosine(vectors[2], it) })
    report("nearest", Similarity.nearest(vectors[2], vectors, 99).map { it.index })
    report("nearest three", Similarity.nearest(vectors[2], vectors, 3).map { it.index })
    reportFailure("vectors of different lengths") { Similarity.cosine(FloatArray(3), FloatArray(2)) }
    reportFailure("no vectors") { Similarity.nearest(FloatArray(3), emptyList(), 0) }
    val odd = listOf(Float.NaN, 1f, 0f, -0f, -1f).map { floatArrayOf(it) }
    report("nearest of odd numbers", Similarity.nearest(floatArrayOf(1f), odd, 9).map { it.index })
}

private fun bytes(vararg values: Int): ByteBuffer =
    ByteBuffer.allocateDirect(values.size).apply { values.forEachIndexed { at, value -> put(at, value.toByte()) } }

private fun pixel(red: Int, green: Int, blue: Int) = Picture(bytes(red, green, blue, 255), 1, 1)

/** A picture whose pixels count from 0. */
private fun grey(width: Int, height: Int) =
    Picture(bytes(*IntArray(width * height) { it }), width, height, PixelFormat.GREY)

private fun <T> later(work: suspend () -> T, then: (T) -> Unit) =
    work.startCoroutine(Continuation(EmptyCoroutineContext) { then(it.getOrThrow()) })

/** Several texts in a run, and each of them alone. */
private fun lists(task: Task) {
    val texts = written(task, "listed")
    Embedder.loadBlocking(task.app, task.options).use { model ->
        report("embedded list", model.embedBlocking(texts).map { it.toList() })
        report("embedded alone", texts.map { model.embedBlocking(it).toList() })
        report("embedded none", model.embedBlocking(emptyList()))
        report("embedded later", runBlocking { model.embed(texts) }.map { it.toList() })
    }
    Topics.loadBlocking(task.app, task.options).use { model ->
        report("classified list", model.classifyBlocking(texts, 3).map { each -> each.sortedBy { it.index }.map { it.score } })
        report("classified alone", texts.map { text -> model.classifyBlocking(text, 3).sortedBy { it.index }.map { it.score } })
        report("labels of a list", model.classifyBlocking(texts).map { each -> each.map { it.label } })
        reportFailure("no classes of a list") { model.classifyBlocking(texts, 0) }
    }
    Judge.loadBlocking(task.app, task.options).use { model ->
        report("scored list", model.scoreBlocking(listOf("the fox"), texts).map { listOf(it) })
        report("scored alone", texts.map { listOf(model.scoreBlocking("the fox", it)) })
        val ranked = model.rankBlocking("the fox", texts + texts + texts)
        report("ranked list", ranked.map { listOf(it.index.toFloat(), it.score) })
        report("ranked list later", runBlocking { model.rank("the fox", texts + texts + texts) } == ranked)
        report("scored none", model.scoreBlocking(emptyList(), emptyList()))
        reportFailure("lists that do not fit") { model.scoreBlocking(texts, texts.take(2)) }
    }
    RowsModel.loadBlocking(task.app, task.options).use { model ->
        val found = model.predictBlocking(texts)
        report("rows of a list", found.map { each -> List(each.ids.capacity(), each.ids::get) })
        report("shapes of a list", found.map { it.idsShape.toList() })
        report("vectors of a list", found.map { it.result.toList() })
        report("rows alone", texts.map { text -> model.predictBlocking(text).ids.let { List(it.capacity(), it::get) } })
        model.close()
        reportFailure("a list after close") { model.predictBlocking(texts) }
    }
}
