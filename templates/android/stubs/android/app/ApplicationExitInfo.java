package android.app;

public final class ApplicationExitInfo {
    public static final int REASON_UNKNOWN = 0;
    public static final int REASON_SIGNALED = 2;
    public static final int REASON_CRASH = 4;
    public static final int REASON_CRASH_NATIVE = 5;
    public static final int REASON_ANR = 6;
    public static final int REASON_USER_REQUESTED = 10;
    public static final int REASON_USER_STOPPED = 11;

    public native int getReason();

    public native int getStatus();

    public native long getTimestamp();
}
