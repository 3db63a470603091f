package com.example.picture

import android.app.Activity
import android.content.ActivityNotFoundException
import android.content.Intent
import android.net.Uri
import android.os.Bundle
import android.widget.Button
import android.widget.ImageView
import android.widget.TextView
import com.example.vision.ModelException
import java.io.IOException
import java.util.concurrent.Executors
import kotlin.concurrent.thread

/** Shows a picture and what the model sees in it. */
class MainActivity : Activity() {
    private val worker = Executors.newSingleThreadExecutor()

    private val models by lazy { Models(applicationContext) }

    /** Loaded by [worker], for the first picture. */
    private val model = lazy { models.loadBlocking() }

    /** Whether [worker] has looked for a newer model. */
    private var isAsked = false
    private var shown: Uri? = null

    override fun onCreate(savedInstanceState: Bundle?) {
        super.onCreate(savedInstanceState)
        setContentView(R.layout.main)
        keepClearOfBars(findViewById(R.id.root))
        findViewById<Button>(R.id.choose).setOnClickListener { choose() }
        findViewById<Button>(R.id.live).setOnClickListener { startActivity(Intent(this, LiveActivity::class.java)) }
        findViewById<Button>(R.id.notes).setOnClickListener { startActivity(Intent(this, NotesActivity::class.java)) }
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
        if (resultCode == RESULT_OK) data?.data?.let(::show)
    }

    /** Android's photo picker answers this, or another app: neither needs a permission. */
    private fun choose() {
        val pictures = Intent(Intent.ACTION_GET_CONTENT).addCategory(Intent.CATEGORY_OPENABLE).setType("image/*")
        try {
            startActivityForResult(pictures, CHOOSE)
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
            say(inWords(model.value.classifyBlocking(photo.bitmap, photo.orientation)))
            update()
        } catch (failure: IOException) {
            say(getString(R.string.not_read, failure.message))
        } catch (failure: SecurityException) {
            say(getString(R.string.not_read, failure.message))
        } catch (failure: ModelException) {
            say(getString(R.string.not_run, failure.message))
        }
    }

    /** Looks for a newer model once, beside [worker]. */
    private fun update() {
        if (isAsked) return
        isAsked = true
        thread {
            val version = models.updateBlocking() ?: return@thread
            runOnUiThread { findViewById<TextView>(R.id.labels).append("\n" + getString(R.string.newer, version)) }
        }
    }

    private fun say(words: String) = runOnUiThread { findViewById<TextView>(R.id.labels).text = words }

    private companion object {
        const val CHOOSE = 1
        const val SHOWN = "shown"
    }
}
