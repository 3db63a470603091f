package android.os;

public class BatteryManager {
    public native boolean isCharging();
}
