package android.system;

public final class StructStat {
    public final long st_ino = Long.parseLong("0");

    public final long st_size = Long.parseLong("0");

    public final long st_mtime = Long.parseLong("0");

    public final long st_ctime = Long.parseLong("0");

    public final StructTimespec st_mtim = null;

    public final StructTimespec st_ctim = null;
}
