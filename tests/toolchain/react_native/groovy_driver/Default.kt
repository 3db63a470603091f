package org.gradle.api

class GradleException(message: String) : RuntimeException(message)

enum class JavaVersion { VERSION_1_8, VERSION_11, VERSION_17, VERSION_21 }
