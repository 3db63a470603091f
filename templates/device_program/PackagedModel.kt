package dev.mobpack.device

import ai.onnxruntime.OnnxTensor
import ai.onnxruntime.OrtEnvironment
import ai.onnxruntime.OrtException
import ai.onnxruntime.OrtSession
import android.content.ComponentCallbacks
import android.content.Context
import android.content.ContextWrapper
import android.content.pm.ApplicationInfo
import java.io.File
import java.lang.reflect.InvocationTargetException

/** A generated class of a package, found by what loads it. */
internal class PackagedClass private constructor(private val kind: Class<*>, private val files: Any) {
    fun about(): Map<String, Any?> = mapOf(
        "class" to kind.name,
        "name" to files.get("name"),
        "version" to files.get("version"),
        "inputs" to (files.get("inputs") as List<*>).map { it?.get("name") },
        "outputs" to (files.get("outputs") as List<*>).map { it?.get("name") },
        "providers" to Class.forName("${kind.name.substringBeforeLast('.')}.Provider").enumConstants.orEmpty().toList(),
        "proves" to runCatching { Class.forName("${kind.name.substringBeforeLast('.')}.Proof") }.isSuccess,
        "tests-itself" to kind.methods.any { it.name == SELF_TEST || it.name == OLD_SELF_TEST },
    )

    companion object {
        /** Null for a class that is no model. */
        fun of(name: String): PackagedClass? {
            val kind = Class.forName(name)
            return filesOf(kind)?.let { PackagedClass(kind, it) }
        }
    }
}

/** A model of a package, opened and run by the package's own classes, as an app does it. */
internal class PackagedModel private constructor(
    private val model: AutoCloseable,
    private val outputs: Set<String>,
    private val environment: OrtEnvironment,
) : OpenModel {
    private val session: Any = checkNotNull(model.get("session"))
    private val running = session.javaClass.declaredMethods.first { it.name == "run" }.apply { isAccessible = true }
    private val run = running.parameterTypes[0].declaredConstructors.first { it.parameterTypes.last() == Boolean::class.java }
        .apply { isAccessible = true }

    override fun about(): List<Pair<String, Any?>> {
        val info = checkNotNull(model.call("getInfo"))
        val assignment = model.call("getAssignment") as List<*>?
        return listOf(
            "version" to info.get("onnxRuntimeVersion"),
            "provider" to model.call("getProvider").toString(),
            "file" to info.get("asset"),
            "sha256" to info.get("sha256"),
            "size" to info.get("sizeBytes"),
            "fallbacks" to (model.call("getFallbacks") as List<*>).map {
                mapOf("provider" to it?.get("provider").toString(), "reason" to it?.get("reason"))
            },
            "assignment" to assignment?.map {
                mapOf("provider" to it?.get("provider").toString(), "nodes" to it?.get("nodes"), "macs" to it?.get("macs"))
            },
            "proofs" to proofsIn(info).map {
                mapOf(
                    "is-proved" to it?.get("isProved"),
                    "reason" to it?.get("reason"),
                    "seconds" to it?.get("seconds"),
                    "cpu-seconds" to it?.get("cpuSeconds"),
                )
            },
        )
    }

    /** Older packages have none. */
    private fun proofsIn(info: Any): List<*> =
        if (info.javaClass.declaredFields.any { it.name == "proofs" }) info.get("proofs") as List<*> else emptyList<Any>()

    override fun run(feed: Feed, take: (Output) -> Unit) {
        val read = { result: OrtSession.Result -> result.forEach { take(Output(it.key, it.value)) } }
        val give = { tensors: Any ->
            @Suppress("UNCHECKED_CAST")
            (tensors.call("getByName") as MutableMap<String, OnnxTensor>).putAll(feed.tensors(environment))
        }
        val nothing = { _: Any -> }
        val given = listOf(read, give, nothing, outputs)
        // The rest says what else a run may do: nothing of it.
        val rest = List(run.parameterCount - given.size) { false }
        try {
            running.invoke(session, run.newInstance(*(given + rest).toTypedArray()))
        } catch (failure: InvocationTargetException) {
            throw generateSequence<Throwable>(failure) { it.cause }.filterIsInstance<OrtException>().firstOrNull()
                ?: failure
        }
    }

    override fun selfTest(): String {
        val name = if (model.javaClass.methods.any { it.name == SELF_TEST }) SELF_TEST else OLD_SELF_TEST
        val found = checkNotNull(model.call(name)) { "no result" }
        val tests = (found.get("outputs") as List<*>).map { test ->
            listOf("name", "sample", "maxAbsError", "maxRelError", "scale", "mismatchCount", "tolerance", "absoluteTolerance", "failure")
                .associateWith { test?.get(it) }
        }
        return json("passed" to found.call("getPassed"), "outputs" to tests)
    }

    override fun close(): Unit = model.close()

    companion object {
        fun open(request: Request, home: String): PackagedModel {
            val kind = Class.forName(request.text("class"))
            val namespace = kind.name.substringBeforeLast('.')
            val context = DeviceContext(systemContext(), File(request.text("data")), request.text("libraries"))
            val files = File(home, "files")
            val source = Class.forName("$namespace.Source").getMethod("folder", File::class.java).invoke(null, files)
            val loader = kind.getField("Companion").get(null)
            val loading = loader.javaClass.methods.first { it.name == "loadBlocking" && it.parameterCount == 3 }
            val model = try {
                loading.invoke(loader, context, options(namespace, request), source)
            } catch (failure: InvocationTargetException) {
                throw failure.cause as? Exception ?: failure
            }
            val outputs = (filesOf(kind)?.get("outputs") as List<*>).map { it?.get("name").toString() }.toSet()
            return PackagedModel(model as AutoCloseable, outputs, OrtEnvironment.getEnvironment())
        }

        /** The package's own options, with what is asked for in their place. */
        private fun options(namespace: String, request: Request): Any {
            val options = Class.forName("$namespace.Options").getConstructor().newInstance()
            val providers = Class.forName("$namespace.Provider")
            val wanted = providers.enumConstants.orEmpty().filter { it.toString() == request.text("provider") }
            if (wanted.isEmpty()) throw IllegalArgumentException("the package has no provider ${request.text("provider")}")
            options.set("providers", wanted)
            options.set("threads", request.number("threads").toInt())
            val own = request.group("option.")
            if (own.isNotEmpty()) options.set("providerOptions", mapOf(wanted.single() to own))
            if (request.has("proof")) options.set("proof", Class.forName("$namespace.Proof").getConstructor().newInstance())
            // Times are those of the provider that was asked for, on as many threads as were asked for.
            for (policy in listOf("retryOnCpu", "fewerThreadsWhenHot", "releaseOnMemoryPressure")) {
                options.get("policies")?.set(policy, false)
            }
            options.javaClass.declaredFields.find { it.name == "tuned" }?.apply { isAccessible = true }?.set(options, false)
            return options
        }

        /** The app's, or that of Android itself where no app runs. */
        private fun systemContext(): Context {
            Host.context?.let { return it }
            val looper = Class.forName("android.os.Looper")
            if (looper.getMethod("getMainLooper").invoke(null) == null) looper.getMethod("prepareMainLooper").invoke(null)
            val activities = Class.forName("android.app.ActivityThread")
            val thread = activities.getMethod("systemMain").invoke(null)
            return activities.getMethod("getSystemContext").invoke(thread) as Context
        }
    }
}

/** The package's facts about the model of a class; null for a class that is not a model. */
private fun filesOf(kind: Class<*>): Any? =
    kind.declaredFields.find { it.type.superclass?.simpleName == "ModelLoader" }?.get(null)?.get("files")

private const val SELF_TEST = "selfTestBlocking"

/** Its name in older packages, where it blocks. */
private const val OLD_SELF_TEST = "selfTest"

/** The app that the models run in, if there is one. */
internal object Host {
    @Volatile
    var context: Context? = null
}

/** A context for code that has no app: its private folders are below [folder]. */
internal class DeviceContext(base: Context, private val folder: File, private val libraries: String) : ContextWrapper(base) {
    override fun getApplicationContext(): Context = this

    override fun getPackageName(): String = "com.android.shell"

    override fun getApplicationInfo(): ApplicationInfo =
        super.getApplicationInfo().also { it.set("nativeLibraryDir", libraries) }

    override fun getNoBackupFilesDir(): File = own("no_backup")

    override fun getFilesDir(): File = own("files")

    override fun getCacheDir(): File = own("cache")

    override fun registerComponentCallbacks(callback: ComponentCallbacks): Unit = Unit

    override fun unregisterComponentCallbacks(callback: ComponentCallbacks): Unit = Unit

    private fun own(name: String) = File(folder, name).apply { mkdirs() }
}

private fun Any.field(name: String) = checkNotNull(fieldOrNull(name)) { "${javaClass.name} has no $name" }

private fun Any.fieldOrNull(name: String) = generateSequence<Class<*>>(javaClass) { it.superclass }
    .firstNotNullOfOrNull { kind -> kind.declaredFields.find { it.name == name } }
    ?.apply { isAccessible = true }

/** The value of a property, which may be made at its first use. */
private fun Any.get(name: String): Any? = fieldOrNull("$name\$delegate")?.get(this)?.call("getValue") ?: field(name).get(this)

private fun Any.set(name: String, value: Any?): Unit = field(name).set(this, value)

private fun Any.call(name: String): Any? =
    javaClass.methods.first { it.name == name && it.parameterCount == 0 }.apply { isAccessible = true }.invoke(this)
