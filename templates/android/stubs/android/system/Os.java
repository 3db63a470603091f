package android.system;

import java.io.FileDescriptor;

public final class Os {
    public static native void close(FileDescriptor file) throws ErrnoException;

    public static native StructStat fstat(FileDescriptor file) throws ErrnoException;

    public static native void fsync(FileDescriptor file) throws ErrnoException;

    public static native FileDescriptor open(String path, int flags, int mode) throws ErrnoException;

    public static native void setenv(String name, String value, boolean isOverwritten) throws ErrnoException;
}
