package androidx.camera.core;

public @interface ExperimentalGetImage {
}
