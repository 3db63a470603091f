package org.gradle.api.tasks

annotation class InputDirectory

annotation class InputFile

annotation class Optional

annotation class OutputDirectory

annotation class TaskAction
