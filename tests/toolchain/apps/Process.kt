package apps

import ai.onnxruntime.OrtEnvironment
import android.content.Context
import android.system.Os
import android.util.Log
import com.example.models.Options
import com.example.models.OrientationModel
import com.example.models.Provider
import device.report
import java.io.File
import java.net.URLClassLoader
import java.util.concurrent.CountDownLatch
import java.util.concurrent.Executors

/**
 * Loads models as an app with two packages does, and reports what that does to the process. `first` says who asks for
 * ONNX Runtime's environment first: the `package`, the `app`, or `all` at once.
 */
fun main(arguments: Array<String>) {
    val task = Task(arguments)
    val other = OtherPackage.load(task.app)
    when (task.text("first")) {
        "app" -> OrtEnvironment.getEnvironment()
        "all" -> atOnce(
            { OrtEnvironment.getEnvironment() },
            { OrientationModel.loadBlocking(task.app, task.options).close() },
            { other.invoke().close() },
        )
    }
    val models = mutableListOf<AutoCloseable>(OrientationModel.loadBlocking(task.app, task.options))
    reportThreads("of one model") { models += OrientationModel.loadBlocking(task.app, task.options) }
    reportThreads("of another package") { models += other.invoke() }
    reportThreads("of five") { models += OrientationModel.loadBlocking(task.app, Options(listOf(Provider.CPU), threads = 5)) }
    reportThreads("of spinning") { models += OrientationModel.loadBlocking(task.app, Options(listOf(Provider.CPU), spinning = true)) }
    report("variables", Os.variables.joinToString("|"))
    report("log", Log.lines.joinToString("|"))
    report("big cores of a phone", bigCores(task.folder("phone")))
    report("big cores of a phone whose cores are all fast", bigCores(task.folder("fast")))
    report("big cores of equals", bigCores(task.folder("equals")))
    report("big cores of a folder that is not there", bigCores(task.folder("nothing")))
    report("processors", Runtime.getRuntime().availableProcessors())
    models.forEach(AutoCloseable::close)
}

/** ONNX Runtime's threads have the name of the one that made them, those of Java names of their own. */
private fun reportThreads(name: String, work: () -> Unit) {
    val before = nativeThreads()
    work()
    report("threads $name", nativeThreads() - before)
}

private fun atOnce(vararg work: () -> Any) {
    val ready = CountDownLatch(work.size)
    val pool = Executors.newFixedThreadPool(work.size)
    val results = work.map {
        pool.submit {
            ready.countDown()
            ready.await()
            it()
        }
    }
    results.forEach { it.get() }
    pool.shutdown()
}

private fun bigCores(folder: File): Any =
    Class.forName("com.example.models.EnvironmentKt").getMethod("bigCores", File::class.java).invoke(null, folder)

/** The classes of the package once more: to Java, those of another package. */
private class OtherPackage(jar: File) : URLClassLoader(arrayOf(jar.toURI().toURL())) {
    override fun loadClass(name: String, resolve: Boolean): Class<*> =
        findLoadedClass(name) ?: if (name.startsWith("com.example.models.")) findClass(name) else super.loadClass(name, resolve)

    companion object {
        fun load(app: Context): () -> AutoCloseable {
            val jar = File(OrientationModel::class.java.protectionDomain.codeSource.location.toURI())
            val loader = OtherPackage(jar).loadClass("com.example.models.OrientationModel").getField("Companion").get(null)
            val load = loader.javaClass.getMethod("loadBlocking", Context::class.java)
            return { load.invoke(loader, app) as AutoCloseable }
        }
    }
}
