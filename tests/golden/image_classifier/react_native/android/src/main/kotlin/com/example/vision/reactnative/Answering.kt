package com.example.vision.reactnative

import com.facebook.react.bridge.Promise
import com.facebook.react.bridge.WritableMap
import java.io.IOException
import kotlin.concurrent.thread

/** Why a file is not available: [code] is that of the error which JavaScript gets. */
internal class FileException(val code: String, message: String, cause: Throwable? = null) : IOException(message, cause)

/**
 * Answers [promise] with what [work] gives. Large files take seconds: a thread of its own does it, so that no other module
 * waits.
 *
 * Whatever is thrown rejects the promise. On a thread without somebody who catches it, it would end the app.
 */
internal fun answer(promise: Promise, work: () -> WritableMap): Unit = rejecting(promise) {
    thread(name = "VisionModels", isDaemon = true) {
        rejecting(promise) { promise.resolve(work()) }
    }
}

private inline fun rejecting(promise: Promise, work: () -> Unit) {
    try {
        work()
    } catch (failure: Throwable) {
        val code = codeOf(failure)
        promise.reject(code, "[$code] ${failure.message ?: failure}", failure)
    }
}

private fun codeOf(failure: Throwable): String = when (failure) {
    is FileException -> failure.code
    is OutOfMemoryError -> "out-of-memory" // also where there is no room for a thread
    is IOException, is SecurityException -> "unreadable"
    else -> "runtime"
}
