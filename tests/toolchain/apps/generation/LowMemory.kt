package apps

/** Tells the app that the device has little memory left. */
fun Task.lowMemory() = app.callbacks.forEach { it.onLowMemory() }
