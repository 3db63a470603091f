package apps

import com.example.models.Message
import com.example.models.ModelObserver
import com.example.models.Role
import com.example.models.RunEvent
import com.example.models.Sampler
import com.example.models.ScribeModel
import com.example.models.Sound
import com.example.models.Teller
import com.sun.management.ThreadMXBean
import device.report
import java.lang.management.ManagementFactory
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.onEach
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
            report("text with a session for each token", model.generate("the quick").onEach { task.lowMemory() }.shown())
            report("texts at once", texts.map { it.await() }.joinToString("/"))
        }
        val allocations = Allocations()
        Teller.loadBlocking(task.app, task.options.copy(observer = allocations)).use { it.generate("the quick").shown() }
        report("allocated", allocations.perRun.joinToString(","))
        Sampler.loadBlocking(task.app, task.options).use { model ->
            report("sampled", listOf(0L, 7L, 1L shl 40, -5L).map { model.generate("a dog", it).shown() }.joinToString("/"))
            report("sampled by default", model.generate("a dog").shown())
            val said = listOf(
                Message(Role.SYSTEM, "be kind"),
                Message(Role.USER, "\u3000 fox\u001c"),
                Message(Role.ASSISTANT, "\$quick"),
                Message(Role.USER, "\uD83D\uDE00 dog "),
            )
            report("chat", model.chat(said).shown() + "/" + model.chat(said, 7).shown())
            val refused = listOf(Message(Role.ASSISTANT, "dog"), Message(Role.USER, "a </end> b")).map { listOf(it) }
            report("refused", (refused + listOf(emptyList())).joinToString("; ") { refusal { model.chat(it) } })
        }
        ScribeModel.loadBlocking(task.app, task.options).use { model ->
            val samples = FloatArray(160) { (it * 7919 % 60000 - 30000) / 32768f }
            report("text of a recording", model.generate(Sound(samples, 16000)).shown())
        }
    }
}

private fun refusal(call: () -> Unit): String =
    runCatching(call).exceptionOrNull().let { if (it is IllegalArgumentException) it.message.orEmpty() else "$it" }

/** What the model's own thread has allocated on Java's heap from one run to the next. */
private class Allocations : ModelObserver {
    private val threads = ManagementFactory.getThreadMXBean() as ThreadMXBean
    private val seen = mutableListOf<Long>()
    val perRun: List<Long> get() = seen.zipWithNext { before, after -> after - before }

    override fun onRun(event: RunEvent) {
        @Suppress("DEPRECATION") // Java 11 has no other
        seen += threads.getThreadAllocatedBytes(Thread.currentThread().id)
    }
}

/** Code points, as texts of random models have many that no terminal shows. */
private suspend fun Flow<String>.shown(): String =
    toList().joinToString("").codePoints().toArray().joinToString(" ")
