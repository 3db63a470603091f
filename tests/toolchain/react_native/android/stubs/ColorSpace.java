package android.graphics;

public abstract class ColorSpace {
    public enum Named {
        SRGB,
    }

    public static native ColorSpace get(Named name);

    public native boolean isSrgb();
}
