package android.content

/** Hands everything on to [base]. */
public open class ContextWrapper(private val base: Context) : Context() {
    override fun getApplicationContext(): Context = base.getApplicationContext()

    override fun getApplicationInfo(): android.content.pm.ApplicationInfo = base.getApplicationInfo()

    override fun getAssets(): android.content.res.AssetManager = base.getAssets()

    override fun getNoBackupFilesDir(): java.io.File = base.getNoBackupFilesDir()

    override fun getCacheDir(): java.io.File = base.getCacheDir()

    override fun getFilesDir(): java.io.File = base.getFilesDir()

    override fun getPackageCodePath(): String = base.getPackageCodePath()

    override fun getPackageManager(): android.content.pm.PackageManager = base.getPackageManager()

    override fun getPackageName(): String = base.getPackageName()

    override fun getSystemService(name: String): Any? = base.getSystemService(name)

    override fun registerComponentCallbacks(callback: ComponentCallbacks): Unit = base.registerComponentCallbacks(callback)

    override fun unregisterComponentCallbacks(callback: ComponentCallbacks): Unit =
        base.unregisterComponentCallbacks(callback)
}
