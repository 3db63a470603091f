package android.app;

import android.content.ContentResolver;
import android.content.ContextWrapper;
import android.content.Intent;
import android.os.Bundle;

public class Activity extends ContextWrapper {
    public static final int RESULT_OK = -1;

    protected native void onCreate(Bundle savedInstanceState);

    public native Intent getIntent();

    public native ContentResolver getContentResolver();

    public native void finish();
}
