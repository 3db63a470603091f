package android.system;

public final class StructTimespec {
    public final long tv_sec = Long.parseLong("0");

    public final long tv_nsec = Long.parseLong("0");
}
