package apps

import android.content.res.AssetManager
import com.example.models.FailureEvent
import com.example.models.ModelObserver
import com.example.models.ModelUntrustedException
import com.example.models.Options
import com.example.models.Provider
import com.example.models.Scorer
import com.example.models.Source
import device.InstalledApp
import device.report
import java.io.File

private const val TIMES = 200

/** Loads a model of apps whose lists of files are right or wrong: each in a folder of its own, as `base.apk`. */
fun main(arguments: Array<String>) {
    val values = arguments.associate { it.substringBefore('=') to it.substringAfter('=') }
    val apps = File(values.getValue("files")).listFiles().orEmpty().filter { it.isDirectory }.sortedBy { it.name }
    for (folder in apps) {
        for (provider in listOf(Provider.CPU, Provider.XNNPACK)) tell("${folder.name} $provider", folder, provider, Source.bundled)
    }
    val own = File(values.getValue("own"))
    tell("own", apps.first(), Provider.CPU, Source.file(own))
    tell("own stranger", apps.first(), Provider.CPU, Source.file(File(values.getValue("stranger"))))
    tell("folder", apps.first(), Provider.CPU, Source.folder(File(values.getValue("folder"))))
    report("milliseconds", timed(apps.first()))
}

private fun tell(name: String, folder: File, provider: Provider, source: Source) {
    AssetManager.mapped.clear()
    val told = mutableListOf<String>()
    val observer = object : ModelObserver {
        override fun onFailure(event: FailureEvent) {
            told += event.error.javaClass.simpleName
        }
    }
    val app = InstalledApp(File(folder, "base.apk"), File(folder, "data"))
    try {
        Scorer.loadBlocking(app, Options(providers = listOf(provider), observer = observer), source).use { model ->
            report(name, "opened by ${model.provider}")
        }
    } catch (failure: Exception) {
        val problem = (failure as? ModelUntrustedException)?.problem
        report(name, problem ?: failure.javaClass.simpleName)
        report("words of $name", failure.message)
    }
    report("told of $name", told.joinToString())
    report("mapped by $name", AssetManager.mapped.joinToString())
}

/** The least time, in milliseconds, that the check of a list takes: a load that ends there. */
private fun timed(folder: File): Double {
    val app = InstalledApp(File(folder, "base.apk"), File(folder, "data"))
    val stranger = Source.bytes(java.nio.ByteBuffer.allocate(4))
    val durations = List(TIMES) {
        val began = System.nanoTime()
        runCatching { Scorer.loadBlocking(app, Options(providers = emptyList()), stranger) }
        System.nanoTime() - began
    }
    return durations.min() / 1e6
}
