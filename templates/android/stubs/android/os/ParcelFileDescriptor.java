package android.os;

import java.io.FileDescriptor;

public class ParcelFileDescriptor {
    public native int getFd();

    public native FileDescriptor getFileDescriptor();
}
