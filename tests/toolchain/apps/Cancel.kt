package apps

import com.example.models.LoadEvent
import com.example.models.ModelBusyException
import com.example.models.ModelObserver
import com.example.models.OrientationModel
import com.example.models.RunEvent
import com.example.models.frames
import device.report
import java.util.Collections
import java.util.concurrent.CountDownLatch
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.SupervisorJob
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
import kotlinx.coroutines.withTimeoutOrNull
import kotlinx.coroutines.yield

private const val MANY = 24

/** Ends calls before and while they run, fills the queue, and feeds frames faster than the model takes them. */
fun main(arguments: Array<String>) {
    val task = Task(arguments)
    OrientationModel.loadBlocking(task.app, task.options.copy(queue = 3)).use { model ->
        runBlocking(Dispatchers.Default) {
            cancelled(task)
            full(model)
            frames(model)
        }
    }
    reopened(task)
}

/** Cancels a call that opens a model again, and closes a model meanwhile: neither waits until it is open. */
private fun reopened(task: Task) = runBlocking(Dispatchers.Default) {
    val one = OrientationModel.Input(dynamicDimension0 = 1)
    for (end in listOf("cancel", "close")) {
        val held = Held()
        val model = OrientationModel.loadBlocking(task.app, task.options.copy(observer = held))
        task.app.callbacks.forEach { it.onLowMemory() }
        val call = async(SupervisorJob()) { model.run(one) }
        held.begun.await()
        val ending = launch(Dispatchers.IO) { if (end == "cancel") call.cancelAndJoin() else model.close() }
        report("$end during an opening", withTimeoutOrNull(60_000) { ending.join() } != null)
        held.end.countDown()
        ending.join()
        report("$end.call", runCatching { call.await() }.exceptionOrNull()?.javaClass?.simpleName)
        if (end == "cancel") report("after cancel", model.run(one).fetchName0.capacity())
        model.close()
    }
}

/** Holds the second load, of a model that was freed. */
private class Held : ModelObserver {
    val begun = CountDownLatch(1)
    val end = CountDownLatch(1)
    private var loads = 0

    override fun onLoad(event: LoadEvent) {
        if (++loads != 2) return
        begun.countDown()
        end.await()
    }
}

/** Cancels a call that waits, then the run that is under way. Nothing tells when that has begun, so this is repeated. */
private suspend fun cancelled(task: Task) = runBlocking {
    val ends = Collections.synchronizedList(mutableListOf<String>())
    val observer = object : ModelObserver {
        override fun onRun(event: RunEvent) {
            ends += if (event.error is CancellationException) "ended early" else "${event.error}"
        }
    }
    OrientationModel.loadBlocking(task.app, task.options.copy(observer = observer)).use { model ->
        val many = OrientationModel.Input(dynamicDimension0 = MANY)
        val isMet = untilMet { wait ->
            ends.clear()
            val running = launch(Dispatchers.Default, CoroutineStart.UNDISPATCHED) { model.run(many) }
            delay(wait)
            val dropped = launch(Dispatchers.Default, CoroutineStart.UNDISPATCHED) { model.run(many) }
            dropped.cancelAndJoin()
            val isRunning = running.isActive
            running.cancelAndJoin()
            isRunning && ends == listOf("ended early")
        }
        report("cancelled", isMet)
        val one = OrientationModel.Input(dynamicDimension0 = 1)
        report("later", model.run(one).fetchName0.get(0) == model.runBlocking(one).fetchName0.get(0))
    }
}

/** Calls beyond the queue fail at once, and give no place away that others have. */
private suspend fun full(model: OrientationModel) = runBlocking {
    val input = OrientationModel.Input(dynamicDimension0 = 8)
    val calls = List(5) { async(start = CoroutineStart.UNDISPATCHED) { runCatching { model.run(input) } } }
    val results = calls.map { it.await() }
    report("full", results.joinToString(",") { it.exceptionOrNull()?.javaClass?.simpleName ?: "ran" })
    report("full.message", results.last().exceptionOrNull()?.message)
    report("full.type", results.last().exceptionOrNull() is ModelBusyException)
    report("after full", runCatching { model.run(input) }.isSuccess)
    val waiting = List(2) { launch { model.run(input) } } + launch { model.run(input) }
    yield()
    waiting.last().cancelAndJoin()
    report("a cancelled call gives its place back", runCatching { model.run(input) }.isSuccess)
}

/** Twenty frames, of which all but the first come while that is answered. */
private suspend fun frames(model: OrientationModel) {
    val camera = Channel<Int>(Channel.UNLIMITED)
    val (begun, given) = List(2) { CompletableDeferred<Unit>() }
    val source = flow {
        emit(0)
        begun.await()
        for (frame in 1..19) emit(frame)
        given.complete(Unit)
    }
    val answers = model.frames(source) { frame ->
        begun.complete(Unit)
        given.await()
        run(OrientationModel.Input(dynamicDimension0 = 4))
        frame
    }.toList()
    report("frames", answers.joinToString(","))

    repeat(3) { camera.send(it) }
    val first = model.frames(camera.consumeAsFlow()) { it }.take(1).toList()
    report("frames until the first", first.joinToString(","))
    report("the source ended with its reader", camera.trySend(0).isClosed)
    val failure = runCatching { model.frames(flow<Int> { error("no camera") }) { it }.toList() }
    report("the source's failure", failure.exceptionOrNull()?.message)
}
