import org.jetbrains.kotlin.gradle.dsl.JvmTarget

plugins {
    id("com.android.application")
}

android {
    namespace = "com.example.picture"
    compileSdk = 36

    defaultConfig {
        applicationId = "com.example.picture"
        minSdk = 24
        targetSdk = 36
        versionCode = 1
        versionName = "1.0"
    }

    buildTypes {
        release {
            isMinifyEnabled = true
            isShrinkResources = true
            proguardFiles(getDefaultProguardFile("proguard-android-optimize.txt"))
        }
    }

    // With -Pupdates, the app takes newer models from a channel.
    val models = if (providers.gradleProperty("updates").isPresent) "src/updates" else "src/offline"
    sourceSets {
        for (name in listOf("debug", "release")) getByName(name).setRoot(models)
    }

    compileOptions {
        sourceCompatibility = JavaVersion.VERSION_11
        targetCompatibility = JavaVersion.VERSION_11
    }

    // With the provider QNN, add packaging { jniLibs { useLegacyPackaging = true } }: Qualcomm's libraries open others
    // as files, which this line makes of them when the app is installed.
}

kotlin {
    compilerOptions {
        jvmTarget = JvmTarget.JVM_11
        allWarningsAsErrors = true
    }
}

dependencies {
    implementation("com.example:vision:1.0.0")
    implementation("com.example:notes:1.0.0")
}
