package android.system;

import java.io.FileDescriptor;

public final class Os {
    public static native StructStat fstat(FileDescriptor file) throws ErrnoException;

    public static native void setenv(String name, String value, boolean isOverwritten) throws ErrnoException;
}
