package android.media;

import java.io.IOException;
import java.io.InputStream;

/** Since API 24 with a constructor for streams. */
public class ExifInterface {
    public static final String TAG_ORIENTATION = "Orientation";
    public static final int ORIENTATION_UNDEFINED = 0;

    public ExifInterface(InputStream inputStream) throws IOException {
        throw new IOException("a stub");
    }

    public native int getAttributeInt(String tag, int defaultValue);
}
