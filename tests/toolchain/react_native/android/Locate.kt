// Drives the Kotlin half of a package as React Native does: by its package class, on a device with one app.
package reactnative

import android.content.ComponentCallbacks2
import android.content.res.AssetManager
import android.os.PowerManager
import com.example.pageorientation.reactnative.NativePageOrientationFilesAndroidSpec
import com.example.pageorientation.reactnative.PageOrientationPackage
import com.facebook.react.bridge.ReactApplicationContext
import device.InstalledApp
import device.report
import java.io.File

/** Longer than what the package knows of the device counts. */
private const val LONG_MS = 1_100L

fun main(arguments: Array<String>) {
    val given = arguments.associate { it.substringBefore('=') to it.substringAfter('=') }
    val app = InstalledApp(File(given.getValue("apk")), File(given.getValue("data")))
    val phone = Phone(app)
    val module = moduleOf(phone)
    val device = module.device()
    report("chip", device.getString("chip"))
    report("apiLevel", device.getDouble("apiLevel"))
    report("folder", device.getString("folder"))

    val calls = given.getValue("calls").toInt()
    for (number in generateSequence(0) { it + 1 }.takeWhile { "asset.$it" in given }) {
        val (asset, size) = given.getValue("asset.$number") to given.getValue("size.$number").toDouble()
        locate(number, List(calls) { Answer().also { module.locate(asset, size, it) } })
    }
    if ("trouble" in given) trouble(app, phone, module)
}

private fun locate(number: Int, answers: List<Answer>) {
    answers.forEach { it.await() }
    val first = answers.first()
    report("$number.path", first.value?.getString("path"))
    report("$number.offset", first.value?.getDouble("offset")?.toLong())
    report("$number.code", first.code)
    report("$number.words", first.words)
    report("$number.thread", first.thread)
    report("$number.same", answers.map { "${it.value?.getString("path")} ${it.code}" }.distinct().size)
    report("$number.read", AssetManager.opened.size)
}

/** A device that becomes hot, and short of memory. */
private fun trouble(app: InstalledApp, phone: Phone, module: NativePageOrientationFilesAndroidSpec) {
    val asked = becomesHot(module)
    Thread.sleep(LONG_MS)
    report("hot", module.isHot())
    report("asked", PowerManager.asked - asked)
    val system = app.callbacks.single() as ComponentCallbacks2
    for (level in listOf(5, 10, 20)) system.onTrimMemory(level)
    report("told of little", phone.heard.size)
    for (level in listOf(15, 40, 80)) system.onTrimMemory(level)
    system.onLowMemory()
    report("told", phone.heard.joinToString(","))
    module.invalidate()
    report("callbacks", app.callbacks.size)
}

/** The device becomes hot less than a second after it was asked: how often it had been before. */
private fun becomesHot(module: NativePageOrientationFilesAndroidSpec): Int {
    repeat(20) { attempt ->
        val before = PowerManager.asked
        val isHot = module.isHot()
        PowerManager.status = PowerManager.THERMAL_STATUS_SEVERE
        val asked = PowerManager.asked
        val isHotAtOnce = module.isHot()
        if (PowerManager.asked == asked || attempt == 19) {
            report("cool", isHot)
            report("at once", isHotAtOnce)
            return before
        }
        // The process stood still for a second: once more.
        PowerManager.status = 0
        Thread.sleep(LONG_MS)
    }
    error("no attempt was the last")
}

private fun moduleOf(context: ReactApplicationContext): NativePageOrientationFilesAndroidSpec {
    val group = PageOrientationPackage()
    val info = group.getReactModuleInfoProvider().getReactModuleInfos().values.single()
    report("name", info.name)
    report("isTurboModule", info.isTurboModule && !info.isCxxModule && !info.needsEagerInit)
    report("other", group.getModule("Other", context))
    return group.getModule(info.name, context) as NativePageOrientationFilesAndroidSpec
}
