package com.example.picture

import android.content.Context
import android.os.Build
import android.view.View
import android.view.WindowInsets
import com.example.vision.Classification
import java.text.NumberFormat

/** Classes that the model sees, a line for each. */
fun Context.inWords(found: List<Classification>): String {
    val percent = NumberFormat.getPercentInstance()
    return found.joinToString("\n") { getString(R.string.classification, it.label, percent.format(it.score)) }
}

/** Where Android draws the app behind its bars, the content starts beside them. */
fun keepClearOfBars(root: View) {
    if (Build.VERSION.SDK_INT < Build.VERSION_CODES.R) return
    root.setOnApplyWindowInsetsListener { view, insets ->
        val bars = insets.getInsets(WindowInsets.Type.systemBars() or WindowInsets.Type.displayCutout())
        view.setPadding(bars.left, bars.top, bars.right, bars.bottom)
        WindowInsets.CONSUMED
    }
}
