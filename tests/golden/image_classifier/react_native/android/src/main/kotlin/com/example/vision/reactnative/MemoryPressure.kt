package com.example.vision.reactnative

import android.content.ComponentCallbacks2
import android.content.Context
import android.content.res.Configuration

/** Calls [tell] when Android wants memory back, until it is closed. */
internal class MemoryPressure(private val context: Context, private val tell: () -> Unit) :
    ComponentCallbacks2, AutoCloseable {
    init {
        context.registerComponentCallbacks(this)
    }

    override fun onTrimMemory(level: Int) {
        if (level == RUNNING_CRITICAL || level >= BACKGROUND) tell()
    }

    override fun onLowMemory(): Unit = tell()

    override fun onConfigurationChanged(newConfig: Configuration): Unit = Unit

    override fun close(): Unit = context.unregisterComponentCallbacks(this)

    private companion object {
        /** ComponentCallbacks2.TRIM_MEMORY_RUNNING_CRITICAL, which Android 14 and later do not send. */
        const val RUNNING_CRITICAL = 15

        /** ComponentCallbacks2.TRIM_MEMORY_BACKGROUND; the levels above it are more urgent. */
        const val BACKGROUND = 40
    }
}
