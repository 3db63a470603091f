package android.content;

import android.content.pm.ApplicationInfo;
import java.io.File;

/** The part of Android's class that the programs on a device use. */
public abstract class Context {
    public abstract Context getApplicationContext();

    public abstract String getPackageName();

    public abstract ApplicationInfo getApplicationInfo();

    public abstract File getNoBackupFilesDir();

    public abstract File getFilesDir();

    public abstract File getCacheDir();

    public void registerComponentCallbacks(ComponentCallbacks callback) {}

    public void unregisterComponentCallbacks(ComponentCallbacks callback) {}
}
