package apps

import com.example.models.Sampler
import com.example.models.ScribeModel
import com.example.models.Sound
import com.example.models.Teller
import device.report
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.take
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.runBlocking

/** Makes texts one after the other, several at once, and some that end early. */
fun main(arguments: Array<String>) {
    val task = Task(arguments)
    runBlocking(Dispatchers.Default) {
        Teller.loadBlocking(task.app, task.options).use { model ->
            report("text", model.generate("the quick").shown())
            report("text of nothing", model.generate("").shown())
            report("part", model.generate("the quick").take(2).shown())
            report("text again", model.generate("the quick").shown())
            val texts = listOf("the quick", "a dog", "the quick").map { async { model.generate(it).shown() } }
            report("texts at once", texts.map { it.await() }.joinToString("/"))
        }
        Sampler.loadBlocking(task.app, task.options).use { model ->
            report("sampled", listOf(0L, 7L, 1L shl 40, -5L).map { model.generate("a dog", it).shown() }.joinToString("/"))
            report("sampled by default", model.generate("a dog").shown())
        }
        ScribeModel.loadBlocking(task.app, task.options).use { model ->
            val samples = FloatArray(160) { (it * 7919 % 60000 - 30000) / 32768f }
            report("text of a recording", model.generate(Sound(samples, 16000)).shown())
        }
    }
}

/** Code points, as texts of random models have many that no terminal shows. */
private suspend fun Flow<String>.shown(): String =
    toList().joinToString("").codePoints().toArray().joinToString(" ")
