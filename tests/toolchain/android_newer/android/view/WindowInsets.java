package android.view;

import android.graphics.Insets;

/** Since API 30 with types, and without the methods that are deprecated since then. */
public final class WindowInsets {
    public static final WindowInsets CONSUMED = new WindowInsets();

    public static final class Type {
        public static native int systemBars();

        public static native int displayCutout();
    }

    public native Insets getInsets(int typeMask);
}
