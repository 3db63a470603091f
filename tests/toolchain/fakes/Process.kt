package android.os

/** That of Java. */
public object Process {
    @JvmStatic
    public fun myPid(): Int = ProcessHandle.current().pid().toInt()
}
