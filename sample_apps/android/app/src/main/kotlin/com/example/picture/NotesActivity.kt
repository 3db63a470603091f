package com.example.picture

import android.app.Activity
import android.os.Bundle
import android.text.Editable
import android.text.TextWatcher
import android.widget.EditText
import android.widget.ListView
import android.widget.SimpleAdapter
import android.widget.TextView
import com.example.notes.Embedder
import com.example.notes.ModelException
import java.io.File
import java.io.IOException
import java.util.concurrent.Executor
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.cancel
import kotlinx.coroutines.flow.MutableStateFlow
import kotlinx.coroutines.launch
import kotlinx.coroutines.withContext

/** Shows the notes that are nearest in meaning to what somebody types. */
class NotesActivity :
    Activity(),
    TextWatcher {
    /** On the main thread, without the library that has `Dispatchers.Main`. */
    private val scope = CoroutineScope(Executor(::runOnUiThread).asCoroutineDispatcher())
    private val query = MutableStateFlow("")

    override fun onCreate(savedInstanceState: Bundle?) {
        super.onCreate(savedInstanceState)
        setContentView(R.layout.notes)
        keepClearOfBars(findViewById(R.id.root))
        findViewById<EditText>(R.id.query).addTextChangedListener(this)
        scope.launch { search() }
    }

    override fun onDestroy() {
        scope.cancel()
        super.onDestroy()
    }

    override fun afterTextChanged(text: Editable) {
        query.value = text.toString()
    }

    override fun beforeTextChanged(text: CharSequence, start: Int, count: Int, after: Int) = Unit

    override fun onTextChanged(text: CharSequence, start: Int, before: Int, count: Int) = Unit

    /** Answers queries until the screen is closed, which closes the model, too. */
    private suspend fun search() = try {
        val notes = withContext(Dispatchers.IO) { readNotes() }
        Embedder.load(applicationContext).use { model ->
            val search = NoteSearch.of(model, notes, VectorFile(File(noBackupFilesDir, "notes")))
            say(getString(R.string.notes_ready, notes.size))
            search.results(query).collect(::show)
        }
    } catch (failure: IOException) {
        say(getString(R.string.notes_not_read, failure.message))
    } catch (failure: ModelException) {
        say(getString(R.string.not_run, failure.message))
    }

    private fun readNotes(): List<Note> = Note.ofJson(assets.open("notes.json").bufferedReader().use { it.readText() })

    private fun show(found: List<Found>) {
        val rows = found.map { (note, score) ->
            mapOf("title" to note.title, "score" to getString(R.string.score, score), "text" to note.text)
        }
        val places = intArrayOf(R.id.title, R.id.score, R.id.text)
        findViewById<ListView>(R.id.found).adapter =
            SimpleAdapter(this, rows, R.layout.note, arrayOf("title", "score", "text"), places)
    }

    private fun say(words: String) {
        findViewById<TextView>(R.id.state).text = words
    }
}
