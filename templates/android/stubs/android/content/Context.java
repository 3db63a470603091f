package android.content;

import android.content.pm.ApplicationInfo;
import android.content.pm.PackageManager;
import android.content.res.AssetManager;
import java.io.File;

public abstract class Context {
    public static final String ACTIVITY_SERVICE = "activity";
    public static final String BATTERY_SERVICE = "batterymanager";
    public static final String CONNECTIVITY_SERVICE = "connectivity";
    public static final String POWER_SERVICE = "power";
    public static final String STORAGE_SERVICE = "storage";

    public abstract Context createDeviceProtectedStorageContext();

    public abstract Context getApplicationContext();

    public abstract ApplicationInfo getApplicationInfo();

    public abstract AssetManager getAssets();

    public abstract File getCacheDir();

    public abstract File getExternalFilesDir(String type);

    public abstract File getNoBackupFilesDir();

    public abstract String getPackageCodePath();

    public abstract PackageManager getPackageManager();

    public abstract String getPackageName();

    public abstract Object getSystemService(String name);

    public abstract boolean isDeviceProtectedStorage();

    public abstract void registerComponentCallbacks(ComponentCallbacks callback);

    public abstract void unregisterComponentCallbacks(ComponentCallbacks callback);
}
