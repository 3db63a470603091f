package android.app;

import android.content.Context;
import android.os.Bundle;

public class Instrumentation {
    public native void onCreate(Bundle arguments);

    public native void onStart();

    public native void start();

    public native void sendStatus(int resultCode, Bundle results);

    public native void finish(int resultCode, Bundle results);

    public native Context getTargetContext();
}
