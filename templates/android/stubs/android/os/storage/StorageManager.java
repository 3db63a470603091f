package android.os.storage;

import java.io.File;
import java.io.IOException;
import java.util.UUID;

public class StorageManager {
    public native void allocateBytes(UUID place, long bytes) throws IOException;

    public native long getAllocatableBytes(UUID place) throws IOException;

    public native UUID getUuidForPath(File path) throws IOException;
}
