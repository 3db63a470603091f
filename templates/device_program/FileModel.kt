package dev.mobpack.device

import ai.onnxruntime.OnnxTensor
import ai.onnxruntime.OrtEnvironment
import ai.onnxruntime.OrtException
import ai.onnxruntime.OrtSession
import ai.onnxruntime.OrtSession.SessionOptions
import java.io.File
import java.lang.reflect.InvocationTargetException
import java.util.EnumSet

/** A file in ONNX or ORT format, opened by ONNX Runtime's own classes. */
internal class FileModel private constructor(
    private val environment: OrtEnvironment,
    private val session: OrtSession,
    private val settings: SessionOptions,
    private val provider: String,
    private val assigned: Map<String, Int>?,
) : OpenModel {
    override fun about(): List<Pair<String, Any?>> = listOf(
        "version" to environment.version,
        "provider" to provider,
        "assignment" to assigned?.map { mapOf("provider" to it.key, "nodes" to it.value) },
    )

    override fun run(feed: Feed, take: (Output) -> Unit) {
        val inputs = feed.tensors(environment)
        try {
            session.run(inputs).use { results -> results.forEach { take(Output(it.key, it.value)) } }
        } finally {
            inputs.values.forEach(OnnxTensor::close)
        }
    }

    override fun selfTest(): String = throw IllegalStateException("a file has no samples of its own")

    override fun close() {
        session.close()
        settings.close()
    }

    companion object {
        fun open(request: Request): FileModel {
            val environment = OrtEnvironment.getEnvironment()
            val provider = request.text("provider")
            val settings = SessionOptions()
            try {
                val file = File(request.text("path"))
                settings.setIntraOpNumThreads(request.number("threads").toInt())
                if (request.text("optimize") == "0") settings.setOptimizationLevel(SessionOptions.OptLevel.NO_OPT)
                settings.addConfigEntry("session.record_ep_graph_assignment_info", "1")
                for ((key, value) in request.group("entry.")) settings.addConfigEntry(key, value)
                if (provider != "cpu") add(settings, provider, request.group("option."))
                // That entry applies to models from memory alone.
                val bytes = if (request.has("weights")) file.readBytes() else null
                if (bytes != null) {
                    settings.addConfigEntry("session.model_external_initializers_file_folder_path", request.text("weights"))
                }
                val session = bytes?.let { environment.createSession(it, settings) } ?: environment.createSession(file.path, settings)
                val assigned = if (request.has("assignment")) Assignment.of(request.text("assignment"), session) else null
                return FileModel(environment, session, settings, provider, assigned)
            } catch (failure: Exception) {
                settings.close()
                throw failure
            }
        }

        /** Calls the method of ONNX Runtime's that adds [provider], which takes names of flags or a map. */
        private fun add(settings: SessionOptions, provider: String, options: Map<String, String>) {
            val name = "add$provider"
            val methods = SessionOptions::class.java.methods.filter { it.name.equals(name, ignoreCase = true) }
            val adding = methods.firstOrNull { it.parameterCount == 1 && it.parameterTypes[0] in listOf(EnumSet::class.java, Map::class.java) }
                ?: throw OrtException("this ONNX Runtime has no provider $provider")
            val argument = if (adding.parameterTypes[0] == EnumSet::class.java) flags(adding.genericParameterTypes[0], options) else options
            try {
                adding.invoke(settings, argument)
            } catch (failure: InvocationTargetException) {
                throw failure.cause as? OrtException ?: failure
            }
        }

        /** Constants of the enumeration in `EnumSet<Flags>` whose option is 1. */
        private fun flags(type: java.lang.reflect.Type, options: Map<String, String>): Any {
            val kind = (type as java.lang.reflect.ParameterizedType).actualTypeArguments[0] as Class<*>
            val wanted = kind.enumConstants.orEmpty().filter { options[(it as Enum<*>).name] == "1" }
            val set = EnumSet::class.java.getMethod("noneOf", Class::class.java).invoke(null, kind)
            @Suppress("UNCHECKED_CAST")
            return (set as MutableCollection<Any>).apply { addAll(wanted) }
        }
    }
}

/** Asks the part of a package that is in C which provider took which node. */
internal object Assignment {
    /** Provider, by ONNX Runtime's name -> number of its nodes; null where ONNX Runtime cannot tell. */
    fun of(className: String, session: OrtSession): Map<String, Int>? {
        val kind = Class.forName(className)
        val instance = kind.getDeclaredField("INSTANCE").apply { isAccessible = true }.get(null)
        val reading = kind.getDeclaredMethod("of", OrtSession::class.java).apply { isAccessible = true }
        val names = (reading.invoke(instance, session) as ByteArray?)?.decodeToString()?.split('\u0000')?.dropLast(1).orEmpty()
        return names.chunked(2) { it[0] }.groupingBy { it }.eachCount().takeIf { it.isNotEmpty() }
    }
}
