package android.content;

import android.content.pm.ApplicationInfo;
import java.io.File;

public class ContextWrapper extends Context {
    public ContextWrapper(Context base) {}

    @Override
    public native Context getApplicationContext();

    @Override
    public native String getPackageName();

    @Override
    public native ApplicationInfo getApplicationInfo();

    @Override
    public native File getNoBackupFilesDir();

    @Override
    public native File getFilesDir();

    @Override
    public native File getCacheDir();
}
