package android.app;

import android.content.Intent;
import android.os.Bundle;
import android.view.ContextThemeWrapper;
import android.view.View;

/** Since API 26 with a generic findViewById, which compiles to the same call. */
public class Activity extends ContextThemeWrapper {
    public static final int RESULT_OK = -1;

    protected native void onCreate(Bundle savedInstanceState);

    protected native void onSaveInstanceState(Bundle outState);

    protected native void onDestroy();

    protected native void onActivityResult(int requestCode, int resultCode, Intent data);

    public native void setContentView(int layoutResID);

    public native <T extends View> T findViewById(int id);

    public native void startActivityForResult(Intent intent, int requestCode);

    public final native void runOnUiThread(Runnable action);

    public native void finish();

    public final native void requestPermissions(String[] permissions, int requestCode);

    public native void onRequestPermissionsResult(int requestCode, String[] permissions, int[] grantResults);
}
