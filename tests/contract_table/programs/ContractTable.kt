package apps

import com.example.models.Classification
import com.example.models.Classifier
import com.example.models.Cleaner
import com.example.models.Cutter
import com.example.models.Enlarger
import com.example.models.Finder
import com.example.models.ListenerModel
import com.example.models.Meaning
import com.example.models.Orientation
import com.example.models.Picture
import com.example.models.PixelFormat
import com.example.models.Poser
import com.example.models.Region
import com.example.models.RgbaPicture
import com.example.models.ScribeModel
import com.example.models.Sound
import com.example.models.SoundStream
import com.example.models.Spotter
import com.example.models.StreamOverflow
import com.example.models.Tokens
import com.example.models.Tone
import com.example.models.YuvConversion
import device.report
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.flow.map
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.yield

private const val CLASSES = 1000
private const val EACH = 37

/** Asks each model what the table of benchmarks/results/contract_table.md asks. */
fun main(arguments: Array<String>) {
    val task = Task(arguments)
    val lines = String(task.bytes("cases").array()).trim().lines().map { it.split(' ') }
    val by = lines.groupBy { it[1] }
    Classifier.loadBlocking(task.app, task.options).use { model ->
        for (line in by.getValue("classifier")) {
            val found = model.classifyBlocking(picture(task, line), CLASSES)
            report("${line[0]} words", found.take(3).joinToString("|") { it.label })
            report("${line[0]} numbers", found.sortedBy { it.index }.joinToString(" ") { "${it.score}" })
        }
    }
    Finder.loadBlocking(task.app, task.options).use { model ->
        for (line in by.getValue("finder")) {
            val found = model.detectBlocking(picture(task, line))
            val numbers = found.flatMap { listOf(it.box.left, it.box.top, it.box.right, it.box.bottom, it.score) }
            report("${line[0]} words", "${found.size}")
            report("${line[0]} numbers", numbers.joinToString(" "))
        }
    }
    ScribeModel.loadBlocking(task.app, task.options).use { model ->
        for (line in by.getValue("scribe")) {
            val reading = model.readBlocking(picture(task, line))
            report("${line[0]} words", reading.text)
            report("${line[0]} numbers", "${reading.score}")
        }
    }
    Poser.loadBlocking(task.app, task.options).use { model ->
        for (line in by.getValue("poser")) {
            val found = model.locateBlocking(picture(task, line))
            report("${line[0]} words", found.joinToString { it.label })
            report("${line[0]} numbers", found.flatMap { listOf(it.x, it.y, it.score) }.joinToString(" "))
        }
    }
    Spotter.loadBlocking(task.app, task.options).use { model ->
        for (line in by.getValue("spotter")) {
            val found = model.segmentBlocking(picture(task, line))
            val numbers = found.flatMap { (_, _, score, box, mask) ->
                val sides = listOf(box.left, box.top, box.right, box.bottom, score)
                val area = listOf(mask.left, mask.top, mask.width, mask.height)
                sides + area.map(Int::toFloat) + mask.places.count { it == 1.toByte() } / mask.width.toFloat()
            }
            report("${line[0]} words", "${found.size} objects")
            report("${line[0]} numbers", numbers.joinToString(" "))
        }
    }
    Cutter.loadBlocking(task.app, task.options).use { model ->
        for (line in by.getValue("cutter")) rendered(line[0], model.renderBlocking(picture(task, line)))
    }
    Enlarger.loadBlocking(task.app, task.options).use { model ->
        for (line in by.getValue("enlarger")) rendered(line[0], model.renderBlocking(picture(task, line)))
    }
    val texts = String(task.bytes("texts").array()).trim().lines().map { it.split(' ') }.groupBy { it[1] }
    Meaning.loadBlocking(task.app, task.options).use { model ->
        for (line in texts.getValue("meaning")) {
            report("${line[0]} words", "")
            report("${line[0]} numbers", model.embedBlocking(text(line)).joinToString(" "))
        }
    }
    Tokens.loadBlocking(task.app, task.options).use { model ->
        for (line in texts.getValue("tokens")) {
            val ids = model.predictBlocking(text(line)).ids
            report("${line[0]} words", "")
            report("${line[0]} numbers", List(ids.capacity(), ids::get).joinToString(" "))
        }
    }
    ListenerModel.loadBlocking(task.app, task.options).use { model ->
        val heard = FloatArray(task.number("samples")).also { task.floats("voice").get(it) }
        val scores = heard.asList().chunked(task.number("window")) { window ->
            model.classifyBlocking(Sound(window.toFloatArray(), task.number("rate"))).single().score
        }
        report("voice words", "")
        report("voice numbers", scores.joinToString(" "))
        listen(model, heard, String(task.bytes("streams").array()).trim().lines().map { it.split(' ').map(String::toInt) })
    }
    Tone.loadBlocking(task.app, task.options).use { model ->
        val heard = FloatArray(task.number("samples")).also { task.floats("voice").get(it) }
        val values = model.estimateBlocking(Sound(heard, task.number("rate")))
        val names = values.series.keys.sorted()
        report("tone words", names.joinToString(" ") { "$it ${values.units[it]}" })
        report("tone numbers", names.flatMap { values.series.getValue(it).asList() }.joinToString(" "))
    }
    Cleaner.loadBlocking(task.app, task.options).use { model ->
        val noisy = task.floats("noisy")
        val cleaned = List(noisy.capacity() / 512) { block ->
            model.renderBlocking(Sound(FloatArray(512) { noisy.get(512 * block + it) }, task.number("rate")))
        }
        report("cleaned words", "${cleaned.last().rate} ${cleaned.last().channels}")
        report("cleaned numbers", cleaned.flatMap { it.toFloatArray().asList() }.joinToString(" "))
    }
}

private typealias Found = List<Pair<String, Float>>

private fun listen(model: ListenerModel, voice: FloatArray, lines: List<List<Int>>) {
    val found = runBlocking(Dispatchers.Default) { lines.map { async { pushed(model, voice, it) } }.awaitAll() }
    val all = found.flatten() + runBlocking { overflown(model, voice) }
    report("streamed words", (all.map { it.first } + misused(model, voice)).joinToString(" "))
    report("streamed numbers", all.joinToString(" ") { "${it.second}" })
}

/** A stream of a line of the file `streams`: rate, channels, and how many frames each push has. */
private suspend fun pushed(model: ListenerModel, voice: FloatArray, line: List<Int>): Found = coroutineScope {
    val (rate, channels) = line
    val stream = model.stream()
    val reading = async { collected(stream) }
    var start = 0
    for (cut in line.drop(2)) {
        stream.push(Sound(voice.copyOfRange(start, start + cut * channels), rate, channels))
        start += cut * channels
        if (cut % 3 == 0) yield()
    }
    stream.flush()
    val found = reading.await()
    // The stream is as good as new.
    stream.reset()
    stream.push(Sound(voice.copyOf(start), rate, channels))
    stream.flush()
    check(collected(stream) == found) { "another sound after reset" }
    stream.close()
    found
}

private suspend fun collected(stream: SoundStream<List<Classification>>): Found =
    stream.results.map { "${it.start}-${it.end}+${it.dropped}" to it.result.single().score }.toList()

/** A queue of half a second that nobody reads. */
private suspend fun overflown(model: ListenerModel, voice: FloatArray): Found {
    val stream = model.stream(queueMs = 500, overflow = StreamOverflow.DROP_OLDEST)
    for (start in 0 until 24_000 step 1000) stream.push(Sound(voice.copyOfRange(start, start + 1000), 16_000))
    stream.flush()
    return collected(stream)
}

/** What is wrong, by a word of the error's. */
private fun misused(model: ListenerModel, voice: FloatArray): List<String> {
    val samples = voice.copyOf(1000)
    val sound = Sound(samples, 16_000)
    val calls = mapOf<String, SoundStream<List<Classification>>.() -> Unit>(
        "began" to { push(Sound(samples, 8000)) },
        "channels" to { push(Sound(samples, 16_000, 2)) },
        "finite" to { push(Sound(floatArrayOf(0f, Float.NaN), 16_000)) },
        "full" to { push(Sound(voice.copyOf(20_000), 16_000)) },
        "flushed" to { flush(); push(sound) },
        "closed" to { close(); push(sound) },
        "least" to { model.stream(queueMs = 0) },
        "takes" to { model.stream(queueMs = 20).push(sound) },
    )
    return calls.map { (word, call) ->
        val stream = model.stream(queueMs = 1000).apply { push(sound) }
        val message = runCatching { stream.call() }.exceptionOrNull()?.message ?: "nothing"
        if (word in message) word else message
    }
}

/** Each [EACH]th byte, which is of red, green, blue and alpha in turn. */
private fun rendered(name: String, made: RgbaPicture) {
    report("$name words", "${made.width} x ${made.height} pixels")
    report("$name numbers", made.pixels.indices.step(EACH).joinToString(" ") { "${made.pixels[it].toInt() and 0xFF}" })
}

private fun text(line: List<String>) = String(CharArray(line.size - 2) { line[it + 2].toInt().toChar() })

private fun picture(task: Task, line: List<String>): Picture {
    val (width, height, rowBytes, orientation) = line.drop(3).map(String::toInt)
    val (left, top, right, bottom, conversion) = line.drop(7).map(String::toInt)
    return Picture(
        task.bytes(line[0]),
        width,
        height,
        PixelFormat.valueOf(line[2]),
        rowBytes,
        Orientation.ofExif(orientation),
        Region(left, top, right, bottom),
        conversion = YuvConversion.entries[conversion],
    )
}
