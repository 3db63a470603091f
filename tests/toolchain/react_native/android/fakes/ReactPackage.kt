package com.facebook.react

import com.facebook.react.bridge.NativeModule
import com.facebook.react.bridge.ReactApplicationContext
import com.facebook.react.module.model.ReactModuleInfoProvider

/** With what it does left out: its own source needs the whole of React Native. */
public abstract class BaseReactPackage {
    public abstract fun getModule(name: String, reactContext: ReactApplicationContext): NativeModule?

    public abstract fun getReactModuleInfoProvider(): ReactModuleInfoProvider
}
