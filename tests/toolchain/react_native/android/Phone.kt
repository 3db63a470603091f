@file:Suppress("DEPRECATION", "OVERRIDE_DEPRECATION") // React Native asks for what it deprecates.

package reactnative

import android.content.Context
import com.facebook.react.bridge.Callback
import com.facebook.react.bridge.CatalystInstance
import com.facebook.react.bridge.JavaScriptContextHolder
import com.facebook.react.bridge.JavaScriptModule
import com.facebook.react.bridge.NativeModule
import com.facebook.react.bridge.ReactApplicationContext
import com.facebook.react.bridge.RuntimeExecutor
import com.facebook.react.bridge.UIManager
import com.facebook.react.turbomodule.core.interfaces.CallInvokerHolder
import java.lang.reflect.Proxy

/** React Native's context of an app whose JavaScript only listens: the engine is native code, which is for phones. */
internal class Phone(app: Context) : ReactApplicationContext(app) {
    /** The events that JavaScript heard. */
    val heard = mutableListOf<String>()

    override fun <T : JavaScriptModule> getJSModule(jsInterface: Class<T>): T {
        val emitter = Proxy.newProxyInstance(jsInterface.classLoader, arrayOf(jsInterface)) { _, _, arguments ->
            heard += arguments[0] as String
            null
        }
        return jsInterface.cast(emitter)!!
    }

    override fun isBridgeless(): Boolean = true

    override fun hasActiveReactInstance(): Boolean = true

    override fun hasReactInstance(): Boolean = true

    override fun <T : NativeModule> hasNativeModule(nativeModuleInterface: Class<T>): Boolean = unused()

    override fun getNativeModules(): Collection<NativeModule> = unused()

    override fun <T : NativeModule> getNativeModule(nativeModuleInterface: Class<T>): T = unused()

    override fun getNativeModule(moduleName: String): NativeModule = unused()

    override fun getCatalystInstance(): CatalystInstance = unused()

    override fun hasActiveCatalystInstance(): Boolean = unused()

    override fun hasCatalystInstance(): Boolean = unused()

    override fun getRuntimeExecutor(): RuntimeExecutor = unused()

    override fun destroy(): Unit = unused()

    override fun handleException(e: Exception): Unit = throw e

    override fun getJavaScriptContextHolder(): JavaScriptContextHolder = unused()

    override fun getJSCallInvokerHolder(): CallInvokerHolder = unused()

    override fun getFabricUIManager(): UIManager = unused()

    override fun getSourceURL(): String = unused()

    override fun registerSegment(segmentId: Int, path: String, callback: Callback): Unit = unused()

    private fun unused(): Nothing = error("a part of React Native that no package of ours uses")
}
