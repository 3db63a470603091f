package android.media;

import java.io.IOException;
import java.io.InputStream;

public class ExifInterface {
    public static final String TAG_ORIENTATION = "Orientation";

    public ExifInterface(InputStream stream) throws IOException {}

    public native int getAttributeInt(String tag, int defaultValue);
}
