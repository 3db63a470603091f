package com.example.picture

import android.app.Activity
import android.content.ActivityNotFoundException
import android.content.ClipData
import android.content.Intent
import android.net.Uri
import android.os.Build
import android.os.Bundle
import android.provider.MediaStore
import android.view.View
import android.view.WindowInsets
import android.widget.Button
import android.widget.ImageView
import android.widget.TextView
import com.example.vision.Classification
import com.example.vision.Classifier
import com.example.vision.ModelException
import java.io.IOException
import java.text.NumberFormat
import java.util.concurrent.Executors

/** Shows a picture and what the model sees in it. */
class MainActivity : Activity() {
    private val worker = Executors.newSingleThreadExecutor()

    /** Loaded by [worker], for the first picture. */
    private val model = lazy { Classifier.load(applicationContext) }
    private var shown: Uri? = null

    override fun onCreate(savedInstanceState: Bundle?) {
        super.onCreate(savedInstanceState)
        setContentView(R.layout.main)
        keepClearOfBars(findViewById(R.id.root))
        findViewById<Button>(R.id.choose).setOnClickListener { choose() }
        findViewById<Button>(R.id.take).setOnClickListener { take() }
        savedInstanceState?.getString(SHOWN)?.let { show(Uri.parse(it)) }
    }

    override fun onSaveInstanceState(outState: Bundle) {
        super.onSaveInstanceState(outState)
        shown?.let { outState.putString(SHOWN, it.toString()) }
    }

    override fun onDestroy() {
        worker.execute { if (model.isInitialized()) model.value.close() }
        worker.shutdown()
        super.onDestroy()
    }

    override fun onActivityResult(requestCode: Int, resultCode: Int, data: Intent?) {
        super.onActivityResult(requestCode, resultCode, data)
        if (resultCode != RESULT_OK) return
        val picture = if (requestCode == TAKE) PhotoProvider.uri(this) else data?.data
        picture?.let(::show)
    }

    /** Android's photo picker answers this, or another app: neither needs a permission. */
    private fun choose() = ask(
        Intent(Intent.ACTION_GET_CONTENT).addCategory(Intent.CATEGORY_OPENABLE).setType("image/*"),
        CHOOSE,
    )

    /** The camera app may write this one file, and gets no other right. */
    private fun take() {
        val photo = PhotoProvider.uri(this)
        val intent = Intent(MediaStore.ACTION_IMAGE_CAPTURE).putExtra(MediaStore.EXTRA_OUTPUT, photo)
        intent.clipData = ClipData.newRawUri(null, photo)
        ask(intent.addFlags(Intent.FLAG_GRANT_WRITE_URI_PERMISSION), TAKE)
    }

    private fun ask(intent: Intent, request: Int) {
        try {
            startActivityForResult(intent, request)
        } catch (missing: ActivityNotFoundException) {
            say(getString(R.string.no_app))
        }
    }

    private fun show(uri: Uri) {
        shown = uri
        say(getString(R.string.looking))
        worker.execute { look(uri) }
    }

    /** Reads a picture and asks the model, away from the main thread. */
    private fun look(uri: Uri) {
        try {
            val photo = Photo.read(contentResolver, uri)
            val upright = photo.upright()
            runOnUiThread { findViewById<ImageView>(R.id.picture).setImageBitmap(upright) }
            say(inWords(model.value.classify(photo.bitmap, photo.orientation)))
        } catch (failure: IOException) {
            say(getString(R.string.not_read, failure.message))
        } catch (failure: SecurityException) {
            say(getString(R.string.not_read, failure.message))
        } catch (failure: ModelException) {
            say(getString(R.string.not_run, failure.message))
        }
    }

    private fun inWords(found: List<Classification>): String {
        val percent = NumberFormat.getPercentInstance()
        return found.joinToString("\n") { getString(R.string.classification, it.label, percent.format(it.score)) }
    }

    private fun say(words: String) = runOnUiThread { findViewById<TextView>(R.id.labels).text = words }

    /** Where Android draws the app behind its bars, the content starts beside them. */
    private fun keepClearOfBars(root: View) {
        if (Build.VERSION.SDK_INT < Build.VERSION_CODES.R) return
        root.setOnApplyWindowInsetsListener { view, insets ->
            val bars = insets.getInsets(WindowInsets.Type.systemBars() or WindowInsets.Type.displayCutout())
            view.setPadding(bars.left, bars.top, bars.right, bars.bottom)
            WindowInsets.CONSUMED
        }
    }

    private companion object {
        const val CHOOSE = 1
        const val TAKE = 2
        const val SHOWN = "shown"
    }
}
