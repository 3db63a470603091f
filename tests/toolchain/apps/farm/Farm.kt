package apps

import android.app.Instrumentation
import device.InstalledApp
import java.io.File

/** Starts the instrumentation of an app that was made for device farms. */
fun main(arguments: Array<String>) {
    val values = arguments.associate { it.substringBefore('=') to it.substringAfter('=') }
    Instrumentation.target = InstalledApp(apk = File(values.getValue("apk")), data = File(values.getValue("data")))
    val kind = Class.forName("dev.mobpack.farm.FarmInstrumentation")
    (kind.getConstructor().newInstance() as Instrumentation).onCreate(null)
}
