/** The names of WorkManager 2.10 that docs/android.md uses, as its reference declares them. */

package androidx.work

import android.content.Context
import java.util.concurrent.TimeUnit

class WorkerParameters private constructor()

abstract class ListenableWorker(appContext: Context, @Suppress("UNUSED_PARAMETER") workerParams: WorkerParameters) {
    val applicationContext: Context = appContext

    abstract class Result private constructor() {
        private class Made : Result()

        companion object {
            fun success(): Result = Made()

            fun retry(): Result = Made()

            fun failure(): Result = Made()
        }
    }
}

abstract class CoroutineWorker(appContext: Context, params: WorkerParameters) : ListenableWorker(appContext, params) {
    abstract suspend fun doWork(): Result
}

enum class NetworkType { NOT_REQUIRED, CONNECTED, UNMETERED, NOT_ROAMING, METERED, TEMPORARILY_UNMETERED }

interface Constraints {
    class Builder {
        fun setRequiredNetworkType(networkType: NetworkType): Builder = TODO("$networkType")

        fun setRequiresCharging(requiresCharging: Boolean): Builder = TODO("$requiresCharging")

        fun build(): Constraints = TODO()
    }
}

interface PeriodicWorkRequest {
    class Builder(workerClass: Class<out ListenableWorker>, repeatInterval: Long, repeatIntervalTimeUnit: TimeUnit) {
        private val given = Triple(workerClass, repeatInterval, repeatIntervalTimeUnit)

        fun setConstraints(constraints: Constraints): Builder = TODO("$given $constraints")

        fun build(): PeriodicWorkRequest = TODO()
    }
}

inline fun <reified W : ListenableWorker> PeriodicWorkRequestBuilder(
    repeatInterval: Long,
    repeatIntervalTimeUnit: TimeUnit,
): PeriodicWorkRequest.Builder = PeriodicWorkRequest.Builder(W::class.java, repeatInterval, repeatIntervalTimeUnit)

enum class ExistingPeriodicWorkPolicy { KEEP, UPDATE, CANCEL_AND_REENQUEUE }

interface Operation

abstract class WorkManager {
    abstract fun enqueueUniquePeriodicWork(
        uniqueWorkName: String,
        existingPeriodicWorkPolicy: ExistingPeriodicWorkPolicy,
        request: PeriodicWorkRequest,
    ): Operation

    companion object {
        fun getInstance(context: Context): WorkManager = TODO("$context")
    }
}
