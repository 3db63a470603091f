package android.graphics;

import java.nio.Buffer;

public final class Bitmap {
    public enum Config {
        ALPHA_8,
        ARGB_8888,
    }

    public static native Bitmap createBitmap(int width, int height, Config config);

    public native ColorSpace getColorSpace();

    public native Config getConfig();

    public native int getWidth();

    public native int getHeight();

    public native int getRowBytes();

    public native int getByteCount();

    public native boolean hasAlpha();

    public native boolean isPremultiplied();

    public native boolean isRecycled();

    public native Bitmap copy(Config config, boolean isMutable);

    public native void copyPixelsToBuffer(Buffer destination);

    public native void recycle();

    public native void setPixels(int[] pixels, int offset, int stride, int x, int y, int width, int height);
}
