package dev.mobpack.farm

import android.app.Activity
import android.os.Bundle
import android.util.Log
import kotlin.concurrent.thread

/** Runs the job without an instrumentation: a game loop of Firebase Test Lab names the file for its results. */
public class FarmActivity : Activity() {
    override fun onCreate(savedInstanceState: Bundle?) {
        super.onCreate(savedInstanceState)
        thread(name = "mobpack") {
            try {
                val document = FarmRun(applicationContext).run {}
                intent?.data?.let { place ->
                    contentResolver.openOutputStream(place)?.use { it.write(document.toByteArray()) }
                }
            } catch (failure: Throwable) {
                Log.e("mobpack", "the job failed", failure)
            } finally {
                finish()
            }
        }
    }
}
