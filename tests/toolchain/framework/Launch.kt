// Starts an app in Android's own framework, which Robolectric brings; not part of Android.
package framework

import android.graphics.Bitmap
import android.os.Build
import java.nio.Buffer
import java.nio.ByteBuffer
import kotlin.system.exitProcess
import org.junit.Test
import org.junit.runner.JUnitCore
import org.junit.runner.RunWith
import org.junit.runners.model.FrameworkMethod
import org.robolectric.RobolectricTestRunner
import org.robolectric.annotation.Config
import org.robolectric.annotation.ConscryptMode
import org.robolectric.annotation.GraphicsMode
import org.robolectric.annotation.Implementation
import org.robolectric.annotation.Implements
import org.robolectric.annotation.RealObject
import org.robolectric.internal.bytecode.InstrumentationConfiguration
import org.robolectric.shadow.api.Shadow
import org.robolectric.shadows.ShadowNativeBitmap
import org.robolectric.util.ReflectionHelpers.ClassParameter

/** Runs it once for each of Robolectric's enabled API levels, each with classes of its own. */
class Runner(test: Class<*>) : RobolectricTestRunner(test) {
    /** A library in C belongs to one class loader: all levels share ONNX Runtime's classes, which need none of Android's. */
    override fun createClassLoaderConfig(method: FrameworkMethod): InstrumentationConfiguration =
        InstrumentationConfiguration.Builder(super.createClassLoaderConfig(method))
            .doNotAcquirePackage("ai.onnxruntime.")
            .build()
}

/** Pixels as phones have them in memory: Skia has blue before red where it is built for desktops. */
@Implements(Bitmap::class, minSdk = 26, callNativeMethodsByDefault = true)
class PhoneBitmap : ShadowNativeBitmap() {
    @RealObject
    private lateinit var bitmap: Bitmap

    @Implementation
    fun copyPixelsToBuffer(target: Buffer) {
        val start = target.position()
        val parameter = ClassParameter.from(Buffer::class.java, target)
        Shadow.directlyOn<Void, Bitmap>(bitmap, Bitmap::class.java, "copyPixelsToBuffer", parameter)
        if (bitmap.config != Bitmap.Config.ARGB_8888 || target !is ByteBuffer) return
        for (pixel in start until target.position() step 4) {
            val blue = target.get(pixel)
            target.put(pixel, target.get(pixel + 2)).put(pixel + 2, blue)
        }
    }
}

@RunWith(Runner::class)
@Config(sdk = [Config.ALL_SDKS], shadows = [PhoneBitmap::class])
@ConscryptMode(ConscryptMode.Mode.OFF)
@GraphicsMode(GraphicsMode.Mode.NATIVE)
class Launch {
    @Test
    fun app() {
        val arguments = System.getProperty("framework.arguments").lines().toTypedArray()
        val main = Class.forName(System.getProperty("framework.app")).getMethod("main", Array<String>::class.java)
        main.invoke(null, arguments)
    }
}

/** Tells the test a fact of this API level: one line `level.name<TAB>value` on standard output. */
fun report(name: String, value: Any?) {
    println("${Build.VERSION.SDK_INT}.$name\t${value.toString().replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t")}")
}

fun main() {
    val result = JUnitCore.runClasses(Launch::class.java)
    for (failure in result.failures) System.err.println("${failure.testHeader}\n${failure.trace}")
    exitProcess(if (result.wasSuccessful()) 0 else 1)
}
