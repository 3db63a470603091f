import groovy.lang.Binding
import groovy.lang.Closure
import groovy.lang.GroovyObjectSupport
import groovy.lang.GroovyShell
import groovy.lang.MissingPropertyException
import groovy.lang.Script
import java.io.File
import org.codehaus.groovy.control.CompilerConfiguration
import org.codehaus.groovy.control.customizers.ImportCustomizer

/**
 * Runs build files and prints what they ask of Gradle, one line a call:
 * `Evaluate <file> <kind>:<name>=<value>... -- <file> ...`. An empty line ends each; before it, one that failed says why.
 */
fun main(arguments: Array<String>) {
    for (words in cases(arguments.toList())) {
        val failure = runCatching { evaluate(words) }.exceptionOrNull()
        if (failure != null) println("failed\t${failure.message?.replace("\n", " ")}")
        println()
    }
}

private fun cases(words: List<String>): List<List<String>> =
    words.fold(listOf(listOf<String>())) { all, word ->
        if (word == "--") all.plusElement(listOf()) else all.dropLast(1).plusElement(all.last() + word)
    }

private fun evaluate(words: List<String>) {
    val (file, given) = words.first() to words.drop(1).map { it.split(":", "=", limit = 3) }
    fun values(kind: String) = given.filter { it[0] == kind }.associate { it[1] to number(it[2]) }
    val configuration = CompilerConfiguration()
    configuration.scriptBaseClass = BuildScript::class.java.name
    configuration.optimizationOptions["asmResolving"] = false // it reads no classes of the newest Java
    configuration.addCompilationCustomizers(ImportCustomizer().addStarImports("org.gradle.api"))
    val project = Project(values("ext"), values("plugin").keys)
    val binding = Binding(mapOf("project" to project, "rootProject" to project, "properties" to values("property")))
    GroovyShell(binding, configuration).evaluate(File(file))
}

private fun number(text: String): Any = text.toIntOrNull() ?: text

/** What a script asks of its project and of the root project. */
class Project(given: Map<String, Any>, plugins: Set<String>) {
    val ext = Named(given)
    val extensions = Named(plugins.associateWith { it })
}

class Named(private val given: Map<String, Any>) {
    fun has(name: String): Boolean = name in given

    fun get(name: String): Any = given.getValue(name)

    fun findByName(name: String): Any? = given[name]
}

abstract class BuildScript : Script() {
    fun findProperty(name: String): Any? = (binding.getVariable("properties") as Map<*, *>)[name]

    override fun invokeMethod(name: String, arguments: Any?): Any? = Block("").invokeMethod(name, arguments)
}

/** A block of the build file: prints whatever is called or set in it. */
class Block(private val path: String) : GroovyObjectSupport() {
    override fun invokeMethod(name: String, arguments: Any?): Any? {
        val all = (arguments as Array<*>).toList()
        val plain = all.filterNot { it is Closure<*> }
        val inner = Block("$path$name.")
        if (plain.isNotEmpty() || all.isEmpty()) println("$path$name\t${plain.joinToString(" ")}")
        for (block in all.filterIsInstance<Closure<*>>()) {
            block.delegate = inner
            block.resolveStrategy = Closure.DELEGATE_FIRST
            block.call()
        }
        return inner
    }

    override fun getProperty(name: String): Any =
        if (name in SCRIPT) throw MissingPropertyException(name, Block::class.java) else Block("$path$name.")

    override fun setProperty(name: String, value: Any?) = println("$path$name\t$value")
}

private val SCRIPT = setOf("project", "rootProject")
