package com.example.picture

import com.example.notes.Embedder
import com.example.notes.Similarity
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.channelFlow
import kotlinx.coroutines.flow.collectLatest
import kotlinx.coroutines.withContext
import org.json.JSONArray

/** A note of somebody. */
data class Note(val title: String, val text: String) {
    /** The words that a search compares. */
    val words: String get() = "$title. $text"

    companion object {
        /** The notes of a JSON array of objects with `title` and `text`. */
        fun ofJson(json: String): List<Note> {
            val objects = JSONArray(json)
            return List(objects.length()) {
                val note = objects.getJSONObject(it)
                Note(note.getString("title"), note.getString("text"))
            }
        }
    }
}

/** A note, and how near it is to a query: the cosine of the two vectors. */
data class Found(val note: Note, val score: Float)

/** Finds notes by meaning. The model makes a vector of each note, once: a file keeps them. */
class NoteSearch private constructor(
    private val model: Embedder,
    private val notes: List<Note>,
    private val vectors: List<FloatArray>,
) {
    /**
     * The [COUNT] notes nearest to the latest of [queries], best first; none for a blank query. A new query ends the
     * search for the one before.
     */
    fun results(queries: Flow<String>): Flow<List<Found>> = channelFlow {
        queries.collectLatest { query -> send(if (query.isBlank()) emptyList() else nearest(query)) }
    }

    private suspend fun nearest(query: String): List<Found> {
        val vector = model.embed(query)
        return withContext(Dispatchers.Default) {
            Similarity.nearest(vector, vectors, COUNT).map { Found(notes[it.index], it.score) }
        }
    }

    companion object {
        const val COUNT = 5

        /**
         * Makes the vectors of those notes that have none in [file], and keeps them there.
         *
         * [model] must stay open as long as the search is used.
         *
         * @throws java.io.IOException when [file] cannot be written
         */
        suspend fun of(model: Embedder, notes: List<Note>, file: VectorFile): NoteSearch {
            val kept = withContext(Dispatchers.IO) { file.read(model.info.sha256) }
            val vectors = notes.map(Note::words).associateWith { kept[it] ?: model.embed(it) }
            if (vectors.keys != kept.keys) withContext(Dispatchers.IO) { file.write(model.info.sha256, vectors) }
            return NoteSearch(model, notes, notes.map { vectors.getValue(it.words) })
        }
    }
}
