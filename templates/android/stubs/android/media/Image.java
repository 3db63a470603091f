package android.media;

import android.graphics.Rect;
import java.nio.ByteBuffer;

public abstract class Image {
    public abstract static class Plane {
        public abstract int getRowStride();

        public abstract int getPixelStride();

        public abstract ByteBuffer getBuffer();
    }

    public abstract int getFormat();

    public abstract int getWidth();

    public abstract int getHeight();

    public abstract Plane[] getPlanes();

    public native Rect getCropRect();
}
