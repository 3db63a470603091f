package android.content.res;

import android.os.ParcelFileDescriptor;
import java.io.Closeable;
import java.io.FileDescriptor;
import java.io.IOException;

public class AssetFileDescriptor implements Closeable {
    public native FileDescriptor getFileDescriptor();

    public native ParcelFileDescriptor getParcelFileDescriptor();

    public native long getStartOffset();

    public native long getLength();

    public native void close() throws IOException;
}
