package com.example.picture

import android.content.Context
import com.example.vision.Classifier
import com.example.vision.ModelUpdater
import com.example.vision.UpdatePhase
import kotlinx.coroutines.runBlocking

/** The newest model from the channel at [address] that was tried on this phone, or that of the app's own package. */
class Models(private val context: Context, address: String = "https://models.example.com/vision/") {
    private val updater = ModelUpdater(context, address)

    fun loadBlocking(): Classifier = Classifier.loadBlocking(context, source = updater.source)

    /** Waits for the channel. Returns the version that the next [loadBlocking] opens; null if none is new. */
    fun updateBlocking(): String? {
        val state = runBlocking { updater.update() }.getValue("classifier")
        return state.version.takeIf { state.phase == UpdatePhase.READY }
    }
}
