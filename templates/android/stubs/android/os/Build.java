package android.os;

public class Build {
    public static final String FINGERPRINT = String.valueOf("");
    public static final String MANUFACTURER = String.valueOf("");
    public static final String MODEL = String.valueOf("");
    public static final String SOC_MODEL = String.valueOf("");

    public static class VERSION {
        public static final String RELEASE = String.valueOf("");
        public static final int SDK_INT = Integer.parseInt("0");
    }

    public static class VERSION_CODES {
        public static final int O = 26;
        public static final int O_MR1 = 27;
        public static final int Q = 29;
        public static final int R = 30;
        public static final int S = 31;
    }
}
