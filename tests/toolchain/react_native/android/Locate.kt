// Drives the Kotlin half of a package as React Native does: by its package class, on a device with one app.
package reactnative

import android.content.res.AssetManager
import com.example.pageorientation.reactnative.NativePageOrientationFilesAndroidSpec
import com.example.pageorientation.reactnative.PageOrientationPackage
import com.facebook.react.bridge.ReactApplicationContext
import device.InstalledApp
import device.report
import java.io.File

fun main(arguments: Array<String>) {
    val given = arguments.associate { it.substringBefore('=') to it.substringAfter('=') }
    val app = InstalledApp(File(given.getValue("apk")), File(given.getValue("data")))
    val module = moduleOf(object : ReactApplicationContext(app) {})
    val device = module.device()
    report("chip", device.getString("chip"))
    report("apiLevel", device.getDouble("apiLevel"))
    report("folder", device.getString("folder"))

    val asset = given.getValue("asset")
    val size = given.getValue("size").toDouble()
    val answers = List(given.getValue("calls").toInt()) { Answer().also { module.locate(asset, size, it) } }
    answers.forEach { it.await() }
    val first = answers.first()
    report("path", first.value?.getString("path"))
    report("offset", first.value?.getDouble("offset")?.toLong())
    report("code", first.code)
    report("words", first.words)
    report("thread", first.thread)
    report("same", answers.map { "${it.value?.getString("path")} ${it.code}" }.distinct().size)
    report("read", AssetManager.opened.size)
}

private fun moduleOf(context: ReactApplicationContext): NativePageOrientationFilesAndroidSpec {
    val group = PageOrientationPackage()
    val info = group.getReactModuleInfoProvider().getReactModuleInfos().values.single()
    report("name", info.name)
    report("isTurboModule", info.isTurboModule && !info.isCxxModule && !info.needsEagerInit)
    report("other", group.getModule("Other", context))
    return group.getModule(info.name, context) as NativePageOrientationFilesAndroidSpec
}
