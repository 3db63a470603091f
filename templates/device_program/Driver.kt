package dev.mobpack.device

import java.io.PrintStream
import java.util.concurrent.LinkedBlockingQueue
import kotlin.concurrent.thread

/**
 * Runs models on a device for `mobpack device`: reads a request a line, and answers each with a line of JSON. Nothing
 * else is written to standard output.
 */
internal object Driver {
    @JvmStatic
    fun main(arguments: Array<String>) {
        val answers = PrintStream(System.out, true, "UTF-8")
        System.setOut(System.err)
        val models = Models(home = arguments[0])
        val requests = LinkedBlockingQueue<String>()
        thread { read(requests) }
        answers.println(json("ready" to true))
        while (true) answers.println(answer(models, Request.of(requests.take())))
    }

    /**
     * Hands over the lines of requests. At the end of the input nobody waits for an answer any more: the process ends at once,
     * also in the middle of a run, so that it writes to no folder that is being removed.
     */
    private fun read(requests: LinkedBlockingQueue<String>) {
        while (true) requests.put(readlnOrNull() ?: break)
        // Threads of Android's, if it has started some, would keep the process.
        Runtime.getRuntime().halt(0)
    }

    fun answer(models: Models, request: Request): String = try {
        models.answer(request)
    } catch (failure: ReflectiveOperationException) {
        json("broken" to inWords(failure.cause ?: failure))
    } catch (failure: Exception) {
        json("refused" to inWords(failure))
    } catch (failure: LinkageError) {
        json("broken" to inWords(failure))
    } catch (failure: OutOfMemoryError) {
        json("refused" to inWords(failure))
    }
}

/** Words of a failure and its causes. */
internal fun inWords(failure: Throwable): String =
    generateSequence(failure) { it.cause }.map { it.message ?: it.javaClass.name }.distinct().joinToString(": ")

/** A line: a verb, then `key=value` with tabs between them. */
internal class Request(val verb: String, private val values: Map<String, String>) {
    fun text(key: String): String = requireNotNull(values[key]) { "the request $verb lacks $key" }

    fun has(key: String): Boolean = key in values

    fun number(key: String): Double = text(key).toDouble()

    /** Values of the keys that begin with [prefix], by the rest of the key, in the order of the line. */
    fun group(prefix: String): Map<String, String> =
        values.filterKeys { it.startsWith(prefix) }.mapKeys { it.key.removePrefix(prefix) }

    companion object {
        fun of(line: String): Request {
            val words = line.split('\t').map(::plain)
            val pairs = words.drop(1).associate { it.substringBefore('=') to it.substringAfter('=') }
            return Request(words.first(), pairs)
        }

        private fun plain(word: String) = ESCAPE.replace(word) { ESCAPED.getValue(it.value) }

        private val ESCAPED = mapOf("\\t" to "\t", "\\n" to "\n", "\\r" to "\r", "\\\\" to "\\")
        private val ESCAPE = Regex("""\\[tnr\\]""")
    }
}

/** JSON of maps, lists, texts, numbers, booleans and null. */
internal fun json(vararg pairs: Pair<String, Any?>): String = inJson(mapOf(*pairs))

private fun inJson(value: Any?): String = when (value) {
    null -> "null"
    is Double -> if (value.isNaN() || value.isInfinite()) "\"$value\"" else value.toString()
    is Number, is Boolean -> value.toString()
    is Map<*, *> -> value.entries.joinToString(",", "{", "}") { "${quoted(it.key.toString())}:${inJson(it.value)}" }
    is LongArray -> value.joinToString(",", "[", "]")
    is Iterable<*> -> value.joinToString(",", "[", "]", transform = ::inJson)
    else -> quoted(value.toString())
}

private fun quoted(text: String): String = buildString {
    append('"')
    for (letter in text) {
        when {
            letter == '"' || letter == '\\' -> append('\\').append(letter)
            letter < ' ' || letter > '~' -> append("\\u%04x".format(letter.code))
            else -> append(letter)
        }
    }
    append('"')
}
