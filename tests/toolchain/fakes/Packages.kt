package android.content.pm

/** What Android knows of an installed app. */
public class ApplicationInfo(@JvmField public val nativeLibraryDir: String)

public class ProviderInfo(@JvmField public val name: String)

/** A package manager of an app that has one provider, `device.provider`: its authority, `=` and its class. */
public class PackageManager {
    private val provider = System.getProperty("device.provider", "").split("=")

    public fun resolveContentProvider(authority: String, flags: Int): ProviderInfo? {
        check(flags == 0) { "other flags are not for tests" }
        return if (authority == provider.first()) ProviderInfo(provider.last()) else null
    }
}
