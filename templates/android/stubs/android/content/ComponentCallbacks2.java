package android.content;

public interface ComponentCallbacks2 extends ComponentCallbacks {
    void onTrimMemory(int level);
}
