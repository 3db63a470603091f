package android.content;

public interface ComponentCallbacks {}
