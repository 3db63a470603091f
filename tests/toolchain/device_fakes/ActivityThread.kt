package android.app

import android.content.Context
import device.InstalledApp
import java.io.File

/** What a program that `app_process` starts finds of Android itself. */
public class ActivityThread private constructor() {
    /** No private folder is of use: a program of the shell has none. */
    public fun getSystemContext(): Context = object : InstalledApp(File("/system/framework.apk"), File("/nowhere")) {
        override fun getPackageName(): String = "android"
    }

    public companion object {
        @JvmStatic
        public fun systemMain(): ActivityThread {
            checkNotNull(android.os.Looper.getMainLooper()) { "no looper" }
            return ActivityThread()
        }
    }
}
