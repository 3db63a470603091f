package android.app;

import java.util.List;

public class ActivityManager {
    public static native void getMyMemoryState(RunningAppProcessInfo outState);

    public native List<ApplicationExitInfo> getHistoricalProcessExitReasons(String packageName, int pid, int maxNum);

    public static class RunningAppProcessInfo {
        public static final int IMPORTANCE_FOREGROUND = 100;

        public int importance;
    }
}
