package com.example.vision.reactnative

import com.facebook.react.BaseReactPackage
import com.facebook.react.bridge.NativeModule
import com.facebook.react.bridge.ReactApplicationContext
import com.facebook.react.module.model.ReactModuleInfo
import com.facebook.react.module.model.ReactModuleInfoProvider

/**
 * Makes the Kotlin module of this package when JavaScript first asks for it.
 *
 * React Native's autolinking searches Kotlin files for it, and leaves out the package's C++ where there is none.
 */
public class VisionModelsPackage : BaseReactPackage() {
    override fun getModule(name: String, reactContext: ReactApplicationContext): NativeModule? =
        if (name == VisionModelsFiles.NAME) VisionModelsFiles(reactContext) else null

    override fun getReactModuleInfoProvider(): ReactModuleInfoProvider = ReactModuleInfoProvider {
        val name = VisionModelsFiles.NAME
        // Overrides no other module, is made when it is first asked for, is not written in C++, is a TurboModule.
        mapOf(name to ReactModuleInfo(name, VisionModelsFiles::class.java.name, false, false, false, true))
    }
}
