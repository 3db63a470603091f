// Asks the Kotlin half of a package for pictures, one after the other, as JavaScript does, on a device with one app.
package reactnative

import android.content.ContentResolver
import android.graphics.BitmapFactory
import com.example.contracts.reactnative.ContractsPackage
import com.example.contracts.reactnative.NativeContractsFilesAndroidSpec
import com.facebook.react.bridge.ReactApplicationContext
import device.InstalledApp
import device.report
import java.io.File

fun main(arguments: Array<String>) {
    // As on Android.
    Thread.setDefaultUncaughtExceptionHandler { _, thrown ->
        System.err.println("the app is killed by $thrown")
        Runtime.getRuntime().halt(1)
    }
    val given = arguments.associate { it.substringBefore('=') to it.substringAfter('=') }
    val data = File(given.getValue("data"))
    val app = InstalledApp(File(given.getValue("apk")), data)
    given["provided"]?.let { ContentResolver.provided["content://media/1"] = File(it) }
    val module = ContractsPackage().getModule("ContractsFilesAndroid", object : ReactApplicationContext(app) {})
    for (number in generateSequence(0) { it + 1 }.takeWhile { "uri.$it" in given }) {
        val (uri, size) = given.getValue("uri.$number") to given.getValue("size.$number").toDouble()
        decode(module as NativeContractsFilesAndroidSpec, uri, size, number)
    }
}

private fun decode(module: NativeContractsFilesAndroidSpec, uri: String, size: Double, number: Int) {
    BitmapFactory.steps.clear()
    val answer = Answer()
    module.decode(uri, size, answer)
    answer.await()
    report("$number.path", answer.value?.getString("path"))
    for (name in listOf("width", "height", "orientation")) report("$number.$name", answer.value?.getDouble(name)?.toInt())
    report("$number.code", answer.code)
    report("$number.words", answer.words)
    report("$number.thread", answer.thread)
    report("$number.steps", BitmapFactory.steps.joinToString())
}
