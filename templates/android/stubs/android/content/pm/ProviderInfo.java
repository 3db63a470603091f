package android.content.pm;

public final class ProviderInfo {
}
