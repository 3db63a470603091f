package com.facebook.proguard.annotations

public annotation class DoNotStrip
