package apps

import android.content.ComponentCallbacks
import android.content.res.AssetManager
import com.example.models.Options
import com.example.models.OrientationModel
import com.example.models.Provider
import com.example.models.Source
import device.InstalledApp
import device.report
import device.reportFailure
import java.io.File

/** An app whose assets are not available. */
private class Broken(task: Task, private val failure: Throwable) :
    InstalledApp(File(task.text("apk")), File(task.text("data"))) {
    override fun getAssets(): AssetManager = throw failure
}

/** Loads models in ways that fail after a session was made, and counts the threads that are left. */
fun main(arguments: Array<String>) {
    val task = Task(arguments)
    // A thread of its own tells a session that was not closed.
    val options = Options(listOf(Provider.CPU), threads = 2, spinning = true)
    val open = OrientationModel.loadBlocking(task.app, options)
    val whileOpen = nativeThreads()
    open.close()
    val before = nativeThreads(whileOpen - 1)
    report("open", whileOpen - before)
    reportFailure("unreadable") {
        OrientationModel.loadBlocking(task.app, options, Source.file(File(task.text("unreadable"))))
    }
    report("unreadable.left", nativeThreads(before) - before)
    val refusing = object : InstalledApp(File(task.text("apk")), File(task.text("data"))) {
        override fun registerComponentCallbacks(callback: ComponentCallbacks): Unit = error("no callbacks")
    }
    reportFailure("refused") { OrientationModel.loadBlocking(refusing, options) }
    report("refused.left", nativeThreads(before) - before)
    reportFailure("forbidden") { OrientationModel.loadBlocking(Broken(task, SecurityException("not allowed"))) }
    reportFailure("without code") { OrientationModel.loadBlocking(Broken(task, NoClassDefFoundError("OrtEnvironment"))) }
    reportFailure("without memory") { OrientationModel.loadBlocking(Broken(task, OutOfMemoryError("Java heap space"))) }
    reportFailure("missing") { OrientationModel.loadBlocking(task.app, options, Source.file(File("/nothing"))) }
}
