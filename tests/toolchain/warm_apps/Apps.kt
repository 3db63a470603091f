/** Apps of tests, one after the other in one process: each has classes of its own, ONNX Runtime's and Kotlin's stay. */

package warm

import java.io.File
import java.lang.reflect.InvocationTargetException
import java.net.URLClassLoader
import kotlin.system.exitProcess

/** Runs an app for each line of the standard input, and ends what it prints with a line that has its exit code. */
fun main() {
    for (line in generateSequence(::readLine)) println("\n\u0000${run(line.split('\t'))}")
    exitProcess(0) // whatever threads apps have left
}

/** Runs what `java` would run by these words: properties, a class path, a main class and its arguments. */
private fun run(words: List<String>): Int {
    val settings = words.takeWhile { it.startsWith("-D") }.map { it.removePrefix("-D") }
    val properties = settings.associate { it.substringBefore('=') to it.substringAfter('=') }
    val before = properties.mapValues { System.getProperty(it.key) }
    val (path, main) = words.drop(settings.size)
    properties.forEach { (name, value) -> System.setProperty(name, value) }
    try {
        return call(App(path).loadClass(main), words.drop(settings.size + 2).toTypedArray())
    } finally {
        for ((name, value) in before) if (value == null) System.clearProperty(name) else System.setProperty(name, value)
    }
}

/** The exit code of [app], which ends when the threads end that keep a process. */
private fun call(app: Class<*>, arguments: Array<String>): Int {
    val others = Thread.getAllStackTraces().keys
    Thread.currentThread().contextClassLoader = app.classLoader
    try {
        app.getMethod("main", Array<String>::class.java).invoke(null, arguments)
    } catch (failure: InvocationTargetException) {
        failure.targetException.printStackTrace()
        return 1
    }
    (Thread.getAllStackTraces().keys - others).filterNot(Thread::isDaemon).forEach(Thread::join)
    return 0
}

/** Classes of an app, and its libraries in C: Java opens a file for one loader, so each has a copy. */
private class App(path: String) : URLClassLoader(
    path.split(File.pathSeparator).map { File(it).toURI().toURL() }.toTypedArray(),
    App::class.java.classLoader,
) {
    override fun findLibrary(name: String): String? {
        val file = File(System.getProperty("java.library.path"), System.mapLibraryName(name))
        return if (file.exists()) file.copyTo(File.createTempFile(name, ".so"), overwrite = true).path else null
    }
}
