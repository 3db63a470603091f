package com.facebook.react.bridge

/** Its own maps are native code of phones. */
public object Arguments {
    @JvmStatic public fun createMap(): WritableMap = JavaOnlyMap()
}
