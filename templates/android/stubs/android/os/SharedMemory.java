package android.os;

import android.system.ErrnoException;
import java.io.Closeable;
import java.nio.ByteBuffer;

public final class SharedMemory implements Closeable {
    public static native SharedMemory create(String name, int size) throws ErrnoException;

    public static native void unmap(ByteBuffer buffer);

    public native ByteBuffer mapReadWrite() throws ErrnoException;

    @Override
    public native void close();
}
