// A device with one app on it, for tests; not part of Android.
package device

import android.app.ActivityManager
import android.content.ComponentCallbacks
import android.content.Context
import android.content.pm.ApplicationInfo
import android.content.pm.PackageManager
import android.content.res.AssetManager
import android.net.ConnectivityManager
import android.os.BatteryManager
import android.os.PowerManager
import android.os.storage.StorageManager
import java.io.File

/** The app whose package is [apk] and whose private files lie under [data]. */
public open class InstalledApp(private val apk: File, private val data: File) : Context() {
    private val assetManager = AssetManager(apk)

    override fun getApplicationContext(): Context = this

    override fun getApplicationInfo(): ApplicationInfo = ApplicationInfo(File(data, "lib").path)

    override fun getAssets(): AssetManager = assetManager

    override fun getNoBackupFilesDir(): File = folder("no_backup")

    override fun getCacheDir(): File = folder("cache")

    override fun getExternalFilesDir(type: String?): File = folder("external")

    override fun getFilesDir(): File = folder("files")

    override fun getPackageCodePath(): String = apk.path

    override fun getPackageManager(): PackageManager = PackageManager()

    override fun getPackageName(): String = "dev.mobpack.device"

    override fun getSystemService(name: String): Any? = when (name) {
        ACTIVITY_SERVICE -> ActivityManager()
        "power" -> PowerManager
        "storage" -> StorageManager
        BATTERY_SERVICE -> BatteryManager
        CONNECTIVITY_SERVICE -> ConnectivityManager
        else -> null
    }

    override fun registerComponentCallbacks(callback: ComponentCallbacks) {
        callbacks += callback
    }

    override fun unregisterComponentCallbacks(callback: ComponentCallbacks) {
        callbacks -= callback
    }

    /** Those that Android would tell of memory that it lacks. */
    public val callbacks: MutableList<ComponentCallbacks> = java.util.concurrent.CopyOnWriteArrayList()

    private fun folder(name: String): File = File(data, name).apply { mkdirs() }
}

/** Tells the test a fact: one line `name<TAB>value` on standard output. */
public fun report(name: String, value: Any?) {
    println("$name\t${value.toString().replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t")}")
}

/** Runs [action] and reports what it throws, as `name.thrown` and `name.message`. */
public fun reportFailure(name: String, action: () -> Unit) {
    val failure = runCatching(action).exceptionOrNull()
    report("$name.thrown", failure?.javaClass?.name)
    report("$name.message", failure?.message)
}
