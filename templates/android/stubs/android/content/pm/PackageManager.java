package android.content.pm;

public abstract class PackageManager {
    public abstract ProviderInfo resolveContentProvider(String authority, int flags);
}
