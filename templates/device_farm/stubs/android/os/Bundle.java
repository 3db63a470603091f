package android.os;

public final class Bundle {
    public native void putInt(String key, int value);

    public native void putString(String key, String value);
}
