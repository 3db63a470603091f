package android.graphics;

import java.io.InputStream;

public class BitmapFactory {
    public static class Options {
        public boolean inJustDecodeBounds;
        public int inSampleSize;
        public boolean inScaled;
        public Bitmap.Config inPreferredConfig;
        public ColorSpace inPreferredColorSpace;
        public int outWidth;
        public int outHeight;
    }

    public static native Bitmap decodeStream(InputStream stream, Rect padding, Options options);
}
