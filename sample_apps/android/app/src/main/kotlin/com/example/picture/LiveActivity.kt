package com.example.picture

import android.Manifest
import android.app.Activity
import android.content.pm.PackageManager
import android.media.Image
import android.os.Bundle
import android.view.SurfaceHolder
import android.view.SurfaceView
import android.widget.TextView
import com.example.vision.ModelException
import com.example.vision.Orientation
import com.example.vision.Picture

/** Shows what the camera sees, and what the model sees in it. */
class LiveActivity :
    Activity(),
    SurfaceHolder.Callback {
    /** Loaded by the camera's thread, for the first frame. */
    private val model = lazy { Models(applicationContext).loadBlocking() }
    private var camera: Camera? = null

    override fun onCreate(savedInstanceState: Bundle?) {
        super.onCreate(savedInstanceState)
        setContentView(R.layout.live)
        keepClearOfBars(findViewById(R.id.root))
        if (checkSelfPermission(Manifest.permission.CAMERA) == PackageManager.PERMISSION_GRANTED) {
            watch()
        } else {
            requestPermissions(arrayOf(Manifest.permission.CAMERA), 0)
        }
    }

    override fun onRequestPermissionsResult(code: Int, permissions: Array<String>, results: IntArray) {
        if (results.firstOrNull() == PackageManager.PERMISSION_GRANTED) watch() else finish()
    }

    override fun onDestroy() {
        super.onDestroy()
        if (model.isInitialized()) model.value.close()
    }

    private fun watch() = findViewById<SurfaceView>(R.id.preview).holder.addCallback(this)

    override fun surfaceCreated(holder: SurfaceHolder) {
        val opened = Camera(this, ::look, ::say)
        camera = opened
        opened.size?.let { holder.setFixedSize(it.width, it.height) }
    }

    /** Comes after [surfaceCreated], and again when the surface has the camera's size. */
    override fun surfaceChanged(holder: SurfaceHolder, format: Int, width: Int, height: Int) {
        val camera = camera ?: return
        if (camera.size == null || holder.surfaceFrame.width() == camera.size?.width) camera.open(holder.surface)
    }

    override fun surfaceDestroyed(holder: SurfaceHolder) {
        camera?.close()
        camera = null
    }

    /** A frame as the camera made it: the model converts, turns and scales it. */
    private fun look(frame: Image, rotationDegrees: Int) {
        try {
            val picture = Picture.of(frame, Orientation.ofRotation(rotationDegrees))
            say(inWords(model.value.classifyBlocking(picture)))
        } catch (failure: ModelException) {
            say(getString(R.string.not_run, failure.message))
        }
    }

    private fun say(words: String) = runOnUiThread { findViewById<TextView>(R.id.labels).text = words }
}
