// What the Android framework gives an app at run time, for a desktop JVM: same class and method signatures, so the
// classes of a built .aar link and run as they are. Only what such classes call is here.
package android.content

import android.content.pm.ApplicationInfo
import android.content.pm.PackageManager
import android.content.res.AssetManager
import android.content.res.Configuration
import java.io.File

public abstract class Context {
    public companion object {
        public const val ACTIVITY_SERVICE: String = "activity"
        public const val BATTERY_SERVICE: String = "batterymanager"
        public const val CONNECTIVITY_SERVICE: String = "connectivity"
    }

    public open fun createDeviceProtectedStorageContext(): Context = error("no storage before the device is unlocked")
    public abstract fun getApplicationContext(): Context
    public abstract fun getApplicationInfo(): ApplicationInfo
    public abstract fun getAssets(): AssetManager
    public abstract fun getNoBackupFilesDir(): File
    public abstract fun getCacheDir(): File
    public open fun getExternalFilesDir(type: String?): File? = null
    public abstract fun getFilesDir(): File
    public abstract fun getPackageCodePath(): String
    public abstract fun getPackageManager(): PackageManager
    public abstract fun getPackageName(): String
    public abstract fun getSystemService(name: String): Any?
    public open fun isDeviceProtectedStorage(): Boolean = false
    public abstract fun registerComponentCallbacks(callback: ComponentCallbacks)
    public abstract fun unregisterComponentCallbacks(callback: ComponentCallbacks)
}

public interface ComponentCallbacks {
    public fun onConfigurationChanged(newConfig: Configuration)
    public fun onLowMemory()
}

public interface ComponentCallbacks2 : ComponentCallbacks {
    public fun onTrimMemory(level: Int)
}
