package android.content;

import android.net.Uri;

public class Intent {
    public native Uri getData();
}
