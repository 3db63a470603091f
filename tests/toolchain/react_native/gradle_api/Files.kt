package org.gradle.api.file

import java.io.File

class RegularFile(val asFile: File)

class RegularFileProperty(private val file: File) {
    fun get(): RegularFile = RegularFile(file)
}

class Directory(val asFile: File) {
    fun file(path: String): RegularFile = RegularFile(File(asFile, path))
}

class DirectoryProperty(private val folder: File) {
    val isPresent: Boolean = true

    fun get(): Directory = Directory(folder)
}
