// Asks the Kotlin half of a package for pictures, as JavaScript does, on a device with one app.
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
    val given = arguments.associate { it.substringBefore('=') to it.substringAfter('=') }
    val data = File(given.getValue("data"))
    val app = InstalledApp(File(given.getValue("apk")), data)
    given["provided"]?.let { ContentResolver.provided["content://media/1"] = File(it) }
    val module = ContractsPackage().getModule("ContractsFilesAndroid", object : ReactApplicationContext(app) {})
    val answer = Answer()
    (module as NativeContractsFilesAndroidSpec).decode(given.getValue("uri"), given.getValue("size").toDouble(), answer)
    answer.await()
    report("path", answer.value?.getString("path"))
    for (name in listOf("width", "height", "orientation")) report(name, answer.value?.getDouble(name)?.toInt())
    report("code", answer.code)
    report("words", answer.words)
    report("thread", answer.thread)
    report("steps", BitmapFactory.steps.joinToString())
}
