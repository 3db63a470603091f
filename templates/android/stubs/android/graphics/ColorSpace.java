package android.graphics;

public abstract class ColorSpace {
    public native boolean isSrgb();
}
