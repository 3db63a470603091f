package com.example.picture

import android.content.Context
import com.example.vision.Classifier

/** The model of the app's own package. */
class Models(private val context: Context) {
    fun loadBlocking(): Classifier = Classifier.loadBlocking(context)

    /** Without a channel, there is no newer version. */
    fun updateBlocking(): String? = null
}
