package apps

import com.example.models.ModelBusyException
import com.example.models.Orientation
import device.report
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.consumeAsFlow
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.flow.take
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.yield

private const val MANY = 96

/** Ends calls before and while they run, fills the queue, and feeds frames faster than the model takes them. */
fun main(arguments: Array<String>) {
    val task = Task(arguments)
    Orientation.loadBlocking(task.app, task.options.copy(queue = 3)).use { model ->
        runBlocking(Dispatchers.Default) {
            cancelled(model)
            full(model)
            frames(model)
        }
    }
}

/** A batch that takes about a second, and a small one. */
private suspend fun cancelled(model: Orientation) = runBlocking {
    val many = Orientation.Input.allocate(dynamicDimension0 = MANY)
    val one = Orientation.Input.allocate(dynamicDimension0 = 1)
    model.run(one)
    val whole = time { model.runAsync(many) }
    report("whole.ms", whole)

    val running = launch(Dispatchers.Default) { model.runAsync(many) }
    delay(whole / 8)
    val dropped = launch(Dispatchers.Default) { model.runAsync(many) }
    delay(whole / 16)
    report("dropped.ms", time { dropped.cancelAndJoin() })
    report("still running", running.isActive)
    report("ended.ms", time { running.cancelAndJoin() })
    report("later.ms", time { model.runAsync(one) })
    report("later", model.runAsync(one).fetchName0.get(0) == model.run(one).fetchName0.get(0))
}

/** Calls beyond the queue fail at once, and give no place away that others have. */
private suspend fun full(model: Orientation) = runBlocking {
    val input = Orientation.Input.allocate(dynamicDimension0 = 8)
    val calls = List(5) { async(start = CoroutineStart.UNDISPATCHED) { runCatching { model.runAsync(input) } } }
    val results = calls.map { it.await() }
    report("full", results.joinToString(",") { it.exceptionOrNull()?.javaClass?.simpleName ?: "ran" })
    report("full.message", results.last().exceptionOrNull()?.message)
    report("full.type", results.last().exceptionOrNull() is ModelBusyException)
    report("after full", runCatching { model.runAsync(input) }.isSuccess)
    val waiting = List(2) { launch { model.runAsync(input) } } + launch { model.runAsync(input) }
    yield()
    waiting.last().cancelAndJoin()
    report("a cancelled call gives its place back", runCatching { model.runAsync(input) }.isSuccess)
}

/** Twenty frames at once, of which the first and the last are certain to be answered. */
private suspend fun frames(model: Orientation) {
    val camera = Channel<Int>(Channel.UNLIMITED)
    var seen = 0
    val answers = model.frames(flow { repeat(20) { emit(it); seen += 1; delay(2) } }) { frame ->
        runAsync(Orientation.Input.allocate(dynamicDimension0 = 4))
        frame
    }.toList()
    report("frames", answers.joinToString(","))
    report("frames given", seen)

    repeat(3) { camera.send(it) }
    val first = model.frames(camera.consumeAsFlow()) { it }.take(1).toList()
    report("frames until the first", first.joinToString(","))
    report("the source ended with its reader", camera.trySend(0).isClosed)
    val failure = runCatching { model.frames(flow<Int> { error("no camera") }) { it }.toList() }
    report("the source's failure", failure.exceptionOrNull()?.message)
}

private inline fun time(work: () -> Unit): Long {
    val start = System.nanoTime()
    work()
    return (System.nanoTime() - start) / 1_000_000
}
