package dev.mobpack.device

import ai.onnxruntime.OnnxJavaType
import ai.onnxruntime.OnnxTensor
import ai.onnxruntime.OnnxValue
import ai.onnxruntime.OrtEnvironment
import ai.onnxruntime.OrtException
import ai.onnxruntime.OrtUtil
import java.io.RandomAccessFile
import java.nio.ByteBuffer
import java.nio.ByteOrder

/** An output of a run. */
internal class Output(val name: String, val value: OnnxValue)

/** The inputs of a run: tensors of one file, in memory that every run uses again. */
internal class Feed(private val inputs: List<Input>) {
    class Input(val name: String, val type: OnnxJavaType, val shape: LongArray, val bytes: ByteBuffer)

    /** New tensors over the same memory, by name; the caller closes them. */
    fun tensors(environment: OrtEnvironment): Map<String, OnnxTensor> = inputs.associate { it.name to tensor(environment, it) }

    private fun tensor(environment: OrtEnvironment, input: Input): OnnxTensor {
        val bytes = input.bytes.duplicate().order(ByteOrder.nativeOrder())
        if (input.type != OnnxJavaType.STRING) {
            return OnnxTensor.createTensor(environment, bytes, input.shape, input.type)
        }
        val words = mutableListOf<String>()
        while (bytes.hasRemaining()) words += String(ByteArray(bytes.getInt()).also { bytes.get(it) }, Charsets.UTF_8)
        return OnnxTensor.createTensor(environment, words.toTypedArray(), input.shape)
    }

    companion object {
        /** `tensor.N=name, type, shape, offset, size`, with units separators between them. */
        fun of(request: Request): Feed = RandomAccessFile(request.text("inputs"), "r").use { file ->
            Feed(request.group("tensor.").values.map { read(it.split('\u001f'), file) })
        }

        private fun read(words: List<String>, file: RandomAccessFile): Input {
            val (name, type, shape, offset, size) = words
            val bytes = ByteBuffer.allocateDirect(size.toInt()).order(ByteOrder.nativeOrder())
            file.channel.position(offset.toLong())
            while (bytes.hasRemaining() && file.channel.read(bytes) >= 0) Unit
            bytes.flip()
            return Input(name, typeOf(type, name), Values.shape(shape), bytes)
        }

        private fun typeOf(type: String, name: String): OnnxJavaType = try {
            OnnxJavaType.valueOf(type)
        } catch (unknown: IllegalArgumentException) {
            throw OrtException("input $name: ONNX Runtime for Java has no tensors of $type: ${unknown.message}")
        }
    }
}

internal object Values {
    fun shape(text: String): LongArray = text.split('x').filter(String::isNotEmpty).map(String::toLong).toLongArray()

    /** Writes the values of an output to the end of [file], and says where. */
    fun append(output: Output, file: RandomAccessFile): Map<String, Any> {
        val tensor = output.value as? OnnxTensor
            ?: throw OrtException("output ${output.name} is no tensor")
        val info = tensor.info
        val offset = file.length()
        file.seek(offset)
        if (info.type == OnnxJavaType.STRING) {
            for (word in words(tensor)) {
                val bytes = word.toByteArray()
                file.write(ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putInt(bytes.size).array())
                file.write(bytes)
            }
        } else if (info.numElements > 0) {
            val bytes = tensor.byteBuffer
            while (bytes.hasRemaining()) file.channel.write(bytes)
        }
        return mapOf(
            "name" to output.name,
            "type" to info.onnxType.name.removePrefix("ONNX_TENSOR_ELEMENT_DATA_TYPE_"),
            "shape" to info.shape,
            "offset" to offset,
            "size" to file.length() - offset,
        )
    }

    private fun words(tensor: OnnxTensor): Array<String> {
        if (tensor.info.numElements == 0L) return emptyArray()
        val value = tensor.value
        return if (value is String) arrayOf(value) else OrtUtil.flattenString(value)
    }
}
