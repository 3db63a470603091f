package android.os;

public class Process {
    public static native int myPid();
}
