package android.os;

public class PowerManager {
    public static final int THERMAL_STATUS_MODERATE = 2;
    public static final int THERMAL_STATUS_SEVERE = 3;

    public native int getCurrentThermalStatus();
}
