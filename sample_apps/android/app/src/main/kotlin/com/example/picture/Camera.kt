package com.example.picture

import android.content.Context
import android.graphics.ImageFormat
import android.hardware.camera2.CameraAccessException
import android.hardware.camera2.CameraCaptureSession
import android.hardware.camera2.CameraCharacteristics
import android.hardware.camera2.CameraDevice
import android.hardware.camera2.CameraManager
import android.hardware.camera2.CaptureRequest
import android.hardware.display.DisplayManager
import android.media.Image
import android.media.ImageReader
import android.os.Handler
import android.os.HandlerThread
import android.util.Size
import android.view.Display
import android.view.Surface

/**
 * The camera on the back of the phone: shows its frames on a surface, and gives them to [onFrame] as the camera makes
 * them, in a thread of its own. A frame that comes while [onFrame] is busy is dropped.
 *
 * An app with CameraX needs none of this: `ImageAnalysis` does the same.
 */
class Camera(
    context: Context,
    private val onFrame: (image: Image, rotationDegrees: Int) -> Unit,
    private val onFailure: (message: String) -> Unit,
) : AutoCloseable {
    private val manager = context.getSystemService(Context.CAMERA_SERVICE) as CameraManager
    private val displays = context.getSystemService(Context.DISPLAY_SERVICE) as DisplayManager
    private val thread = HandlerThread("camera").apply { start() }
    private val handler = Handler(thread.looper)
    private val id: String? = onTheBack()
    private val reader: ImageReader? = id?.let { camera ->
        val size = frameSize(camera)
        ImageReader.newInstance(size.width, size.height, ImageFormat.YUV_420_888, 2)
    }
    private var device: CameraDevice? = null
    private var isAsked = false

    /** The size of frames, which a surface that shows them should have; null where there is no camera. */
    val size: Size? get() = reader?.let { Size(it.width, it.height) }

    /**
     * A second call does nothing.
     *
     * @throws SecurityException when the user has not allowed it
     */
    fun open(shown: Surface) {
        if (isAsked) return
        isAsked = true
        val id = id ?: return onFailure("there is no camera on the back")
        try {
            manager.openCamera(id, Opening(shown), handler)
        } catch (failure: CameraAccessException) {
            onFailure(failure.message.orEmpty())
        }
    }

    /** Waits for the frame that [onFrame] has. */
    override fun close() {
        handler.post {
            device?.close()
            reader?.close()
        }
        thread.quitSafely()
        thread.join()
    }

    private inner class Opening(private val shown: Surface) : CameraDevice.StateCallback() {
        override fun onOpened(camera: CameraDevice) {
            val reader = reader ?: return
            device = camera
            reader.setOnImageAvailableListener(::takeFrame, handler)
            val surfaces = listOf(shown, reader.surface)
            val request = camera.createCaptureRequest(CameraDevice.TEMPLATE_PREVIEW)
            surfaces.forEach(request::addTarget)
            @Suppress("DEPRECATION") // What replaces it came with Android 9.
            camera.createCaptureSession(surfaces, Repeating(request.build()), handler)
        }

        override fun onDisconnected(camera: CameraDevice) {
            camera.close()
            onFailure("another app has the camera")
        }

        override fun onError(camera: CameraDevice, error: Int) {
            camera.close()
            onFailure("the camera reports error $error")
        }
    }

    private inner class Repeating(private val request: CaptureRequest) : CameraCaptureSession.StateCallback() {
        override fun onConfigured(session: CameraCaptureSession) {
            try {
                session.setRepeatingRequest(request, null, handler)
            } catch (closed: IllegalStateException) {
                return // before it showed anything
            } catch (failure: CameraAccessException) {
                onFailure(failure.message.orEmpty())
            }
        }

        override fun onConfigureFailed(session: CameraCaptureSession) = onFailure("the camera refuses these surfaces")
    }

    private fun takeFrame(reader: ImageReader) {
        reader.acquireLatestImage()?.use { onFrame(it, rotationDegrees()) }
    }

    /** How far a frame has to be turned clockwise to be upright on the display. */
    private fun rotationDegrees(): Int {
        val sensor = id?.let { about(it)[CameraCharacteristics.SENSOR_ORIENTATION] } ?: 0
        return (sensor - 90 * displays.getDisplay(Display.DEFAULT_DISPLAY).rotation + 360) % 360
    }

    private fun onTheBack(): String? = try {
        manager.cameraIdList.firstOrNull { about(it)[CameraCharacteristics.LENS_FACING] == BACK }
    } catch (failure: CameraAccessException) {
        onFailure(failure.message.orEmpty())
        null
    }

    /** The smallest size that the model's 224 pixels can be scaled down from. */
    private fun frameSize(id: String): Size {
        val sizes = about(id)[CameraCharacteristics.SCALER_STREAM_CONFIGURATION_MAP]
            ?.getOutputSizes(ImageFormat.YUV_420_888).orEmpty()
        return sizes.filter { minOf(it.width, it.height) >= SHORTEST_SIDE }.minByOrNull { it.width * it.height }
            ?: sizes.first()
    }

    private fun about(id: String): CameraCharacteristics = manager.getCameraCharacteristics(id)

    private companion object {
        const val BACK = CameraCharacteristics.LENS_FACING_BACK
        const val SHORTEST_SIDE = 480
    }
}
