package android.content.pm;

public final class ProviderInfo {
    public String name;
}
