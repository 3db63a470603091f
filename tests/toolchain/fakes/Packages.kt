package android.content.pm

/** What Android knows of an installed app. */
public class ApplicationInfo(@JvmField public val nativeLibraryDir: String)

public class ProviderInfo(@JvmField public val authority: String)

/** A package manager of an app with the providers of the Java property `device.providers`, parted by commas. */
public class PackageManager {
    private val authorities = System.getProperty("device.providers", "").split(",")

    public fun resolveContentProvider(authority: String, flags: Int): ProviderInfo? {
        check(flags == 0) { "other flags are not for tests" }
        return if (authority in authorities) ProviderInfo(authority) else null
    }
}
