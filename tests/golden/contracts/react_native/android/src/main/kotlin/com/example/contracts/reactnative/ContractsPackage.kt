package com.example.contracts.reactnative

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
public class ContractsPackage : BaseReactPackage() {
    override fun getModule(name: String, reactContext: ReactApplicationContext): NativeModule? =
        if (name == ContractsFiles.NAME) ContractsFiles(reactContext) else null

    override fun getReactModuleInfoProvider(): ReactModuleInfoProvider = ReactModuleInfoProvider {
        val name = ContractsFiles.NAME
        // Overrides no other module, is made when it is first asked for, is not written in C++, is a TurboModule.
        mapOf(name to ReactModuleInfo(name, ContractsFiles::class.java.name, false, false, false, true))
    }
}
