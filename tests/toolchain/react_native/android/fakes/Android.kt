// What of Android's framework React Native's classes are made of.
package android.content

import android.content.pm.ApplicationInfo
import android.content.pm.PackageManager
import android.content.res.AssetManager
import java.io.File

public open class ContextWrapper(private val base: Context) : Context() {
    override fun getApplicationContext(): Context = base.getApplicationContext()

    override fun getAssets(): AssetManager = base.getAssets()

    override fun getContentResolver(): ContentResolver = base.getContentResolver()

    override fun getNoBackupFilesDir(): File = base.getNoBackupFilesDir()

    override fun getCacheDir(): File = base.getCacheDir()

    override fun getFilesDir(): File = base.getFilesDir()

    override fun getPackageCodePath(): String = base.getPackageCodePath()

    override fun getPackageName(): String = base.getPackageName()

    override fun getApplicationInfo(): ApplicationInfo = base.getApplicationInfo()

    override fun getPackageManager(): PackageManager = base.getPackageManager()

    override fun getSystemService(name: String): Any? = base.getSystemService(name)

    override fun registerComponentCallbacks(callback: ComponentCallbacks): Unit =
        base.registerComponentCallbacks(callback)

    override fun unregisterComponentCallbacks(callback: ComponentCallbacks): Unit =
        base.unregisterComponentCallbacks(callback)
}
