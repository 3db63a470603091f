package android.content;

import android.content.pm.ApplicationInfo;
import android.content.pm.PackageManager;
import android.content.res.AssetManager;
import java.io.File;

public class ContextWrapper extends Context {
    @Override
    public native Context createDeviceProtectedStorageContext();

    @Override
    public native Context getApplicationContext();

    @Override
    public native ApplicationInfo getApplicationInfo();

    @Override
    public native AssetManager getAssets();

    @Override
    public native File getCacheDir();

    @Override
    public native File getExternalFilesDir(String type);

    @Override
    public native File getNoBackupFilesDir();

    @Override
    public native String getPackageCodePath();

    @Override
    public native PackageManager getPackageManager();

    @Override
    public native String getPackageName();

    @Override
    public native Object getSystemService(String name);

    @Override
    public native boolean isDeviceProtectedStorage();

    @Override
    public native void registerComponentCallbacks(ComponentCallbacks callback);

    @Override
    public native void unregisterComponentCallbacks(ComponentCallbacks callback);
}
