package apps

import android.content.Context
import com.example.notes.Embedder
import com.example.notes.ModelObserver
import com.example.notes.Options
import com.example.notes.RunEvent
import com.example.picture.Found
import com.example.picture.Note
import com.example.picture.NoteSearch
import com.example.picture.VectorFile
import java.io.File
import kotlinx.coroutines.flow.asFlow
import kotlinx.coroutines.flow.flowOf
import kotlinx.coroutines.flow.last
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.runBlocking

private const val TYPED = 20

/** Starts the search of the sample app several times, as its screen does, and reports what it finds for the queries. */
fun main(arguments: Array<String>) {
    val (apk, data, json) = arguments.map(::File)
    val queries = arguments.drop(3)
    // Known by name alone, as Android is to an app.
    val application = Class.forName("device.InstalledApp").getConstructor(File::class.java, File::class.java)
    val context = application.newInstance(apk, data) as Context
    val file = File(data, "notes")
    val notes = Note.ofJson(json.readText())

    for (start in listOf("first", "second")) {
        started(context, start, notes, file) { search ->
            for (query in queries) report("$start $query", inWords(search.results(flowOf(query)).last()))
        }
    }
    started(context, "added", notes + Note("New", "One more."), file) { search ->
        val typed = List(TYPED) { queries.first().take(it) } + queries.first()
        val answers = search.results(typed.drop(1).asFlow()).toList()
        report("answers", answers.size)
        report("last answer", answers.last().first().note.title)
        report("blank", search.results(flowOf(" ")).last().size)
    }
    file.writeBytes(file.readBytes().copyOf(1000))
    started(context, "damaged", notes.take(2), file) {}
}

/** Opens the model, and reports how often it ran until the search was ready. */
private fun started(context: Context, name: String, notes: List<Note>, file: File, use: suspend (NoteSearch) -> Unit) {
    var runs = 0
    val counter = object : ModelObserver {
        override fun onRun(event: RunEvent) {
            runs += 1
        }
    }
    Embedder.loadBlocking(context, Options(observer = counter)).use { model ->
        runBlocking {
            val search = NoteSearch.of(model, notes, VectorFile(file))
            report("$name runs", runs)
            use(search)
        }
    }
}

private fun inWords(found: List<Found>) =
    found.joinToString("|") { it.note.title } + ";" + found.joinToString(" ") { "${it.score}" }

private fun report(name: String, value: Any) = println("$name\t$value")
