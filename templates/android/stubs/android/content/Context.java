package android.content;

import android.content.res.AssetManager;
import java.io.File;

public abstract class Context {
    public abstract Context getApplicationContext();

    public abstract AssetManager getAssets();

    public abstract File getNoBackupFilesDir();

    public abstract String getPackageCodePath();
}
