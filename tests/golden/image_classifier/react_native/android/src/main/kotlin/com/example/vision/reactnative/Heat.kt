package com.example.vision.reactnative

import android.content.Context
import android.os.Build
import android.os.PowerManager

/** Whether the device is so hot that Android slows it down. Android, from 10 on, is asked once a second at most. */
internal class Heat(context: Context) {
    private val power = if (Build.VERSION.SDK_INT >= Build.VERSION_CODES.Q) powerOf(context) else null
    private var asked: Long? = null
    private var isHot = false

    @Synchronized
    fun isHot(): Boolean {
        if (power == null) return false
        val now = System.nanoTime()
        if (asked.let { it == null || now - it >= INTERVAL_NS }) {
            asked = now
            isHot = power.currentThermalStatus >= PowerManager.THERMAL_STATUS_SEVERE
        }
        return isHot
    }

    private fun powerOf(context: Context): PowerManager? =
        context.getSystemService(Context.POWER_SERVICE) as PowerManager?

    private companion object {
        const val INTERVAL_NS = 1_000_000_000L
    }
}
