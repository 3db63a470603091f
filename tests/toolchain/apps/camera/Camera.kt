package androidx.camera.core

import android.media.Image

/** CameraX's frames, as far as an app sees of them. */
public annotation class ExperimentalGetImage

public interface ImageInfo {
    public val rotationDegrees: Int
}

public interface ImageProxy : AutoCloseable {
    public val imageInfo: ImageInfo
    public val image: Image?
}

public class ImageAnalysis {
    public fun interface Analyzer {
        public fun analyze(frame: ImageProxy)
    }

    public class Builder {
        public fun setBackpressureStrategy(@Suppress("UNUSED_PARAMETER") strategy: Int): Builder = this

        public fun build(): ImageAnalysis = ImageAnalysis()
    }

    public companion object {
        public const val STRATEGY_KEEP_ONLY_LATEST: Int = 0
    }
}
