package android.util;

public class Base64 {
    public static final int DEFAULT = 0;

    public static native byte[] decode(String text, int flags);
}
