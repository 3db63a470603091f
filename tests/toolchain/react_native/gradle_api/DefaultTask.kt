package org.gradle.api

open class DefaultTask {
    var group: String? = null
}
