package android.content.res;

import java.io.Closeable;
import java.io.FileDescriptor;
import java.io.IOException;

public class AssetFileDescriptor implements Closeable {
    public native FileDescriptor getFileDescriptor();

    public native long getStartOffset();

    public native long getLength();

    public native void close() throws IOException;
}
