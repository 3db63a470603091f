package apps

/** Servers and desktops tell programs of no lack of memory. */
fun Task.lowMemory() = Unit
