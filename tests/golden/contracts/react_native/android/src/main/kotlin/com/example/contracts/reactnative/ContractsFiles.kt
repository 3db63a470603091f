package com.example.contracts.reactnative

import android.content.Context
import android.os.Build
import com.facebook.react.bridge.Arguments
import com.facebook.react.bridge.Promise
import com.facebook.react.bridge.ReactApplicationContext
import com.facebook.react.bridge.WritableMap
import java.io.File

/** Tells the C++ module what only Android knows: where the files of models are, and which device this is. */
internal class ContractsFiles(context: ReactApplicationContext) : NativeContractsFilesAndroidSpec(context) {
    private val app: Context = context.applicationContext
    private val heat = Heat(app)
    private val pressure = MemoryPressure(app) { context.emitDeviceEvent("ContractsMemoryPressure") }

    override fun invalidate() {
        pressure.close()
        super.invalidate()
    }

    override fun isHot(): Boolean = heat.isHot()

    override fun device(): WritableMap = Arguments.createMap().apply {
        // Older Android does not say which chip it runs on.
        putString("chip", if (Build.VERSION.SDK_INT >= Build.VERSION_CODES.S) Build.SOC_MODEL else "")
        putDouble("apiLevel", Build.VERSION.SDK_INT.toDouble())
        putString("folder", File(app.noBackupFilesDir, "mobpack/Contracts").path)
    }

    override fun locate(asset: String, size: Double, promise: Promise): Unit = answer(promise) {
        val place = Asset(app, asset, size.toLong()).locate()
        Arguments.createMap().apply {
            putString("path", place.path)
            putDouble("offset", place.offset.toDouble())
        }
    }

    override fun decode(uri: String, maxSize: Double, promise: Promise): Unit = answer(promise) {
        val folder = File(app.cacheDir, "mobpack/Contracts")
        val decoded = PictureFile(app, uri, maxSize.toInt()).decode(folder)
        Arguments.createMap().apply {
            putString("path", decoded.file.path)
            putDouble("width", decoded.width.toDouble())
            putDouble("height", decoded.height.toDouble())
            putDouble("orientation", decoded.orientation.toDouble())
        }
    }

    companion object {
        const val NAME = NativeContractsFilesAndroidSpec.NAME
    }
}
