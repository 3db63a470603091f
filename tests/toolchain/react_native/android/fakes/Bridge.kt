// Stand-ins for the classes of React Native that it writes in Java, or that need its native code: the members that a
// package of ours uses, as ReactAndroid.api lists them. Others are compiled from React Native's own Kotlin.
package com.facebook.react.bridge

import android.content.Context
import android.content.ContextWrapper

/** What JavaScript was told, for tests to look at. */
public object Emitted {
    public val names: MutableList<String> = mutableListOf()
}

public abstract class ReactContext(context: Context) : ContextWrapper(context) {
    public fun emitDeviceEvent(eventName: String) {
        Emitted.names += eventName
    }
}

public abstract class ReactApplicationContext(context: Context) : ReactContext(context.getApplicationContext())

public interface NativeModule {
    public fun getName(): String

    public fun initialize()

    public fun invalidate()
}

public abstract class BaseJavaModule(private val reactContext: ReactApplicationContext?) : NativeModule {
    protected fun getReactApplicationContext(): ReactApplicationContext = checkNotNull(reactContext)

    override fun initialize() {}

    override fun invalidate() {}
}

public abstract class ReactContextBaseJavaModule(reactContext: ReactApplicationContext?) : BaseJavaModule(reactContext)

public object Arguments {
    @JvmStatic public fun createMap(): WritableMap = JavaOnlyMap()
}
