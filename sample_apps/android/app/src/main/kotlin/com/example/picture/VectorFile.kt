package com.example.picture

import android.util.AtomicFile
import java.io.DataInputStream
import java.io.DataOutputStream
import java.io.File
import java.io.IOException

/** A file with the vectors that a model made of texts. */
class VectorFile(path: File) {
    private val file = AtomicFile(path)

    /** The vectors by text; none if there is no file yet, or if another [model] made them. */
    fun read(model: String): Map<String, FloatArray> = try {
        DataInputStream(file.openRead().buffered()).use { input ->
            if (input.readUTF() != model) return emptyMap()
            buildMap { repeat(input.readInt()) { put(input.readText(), input.readVector()) } }
        }
    } catch (missing: IOException) {
        emptyMap()
    }

    /** Replaces what the file had, all of it or nothing. */
    @Throws(IOException::class)
    fun write(model: String, vectors: Map<String, FloatArray>) {
        val stream = file.startWrite()
        try {
            val output = DataOutputStream(stream.buffered())
            output.writeUTF(model)
            output.writeInt(vectors.size)
            for ((text, vector) in vectors) {
                output.writeText(text)
                output.writeVector(vector)
            }
            output.flush()
            file.finishWrite(stream)
        } catch (failure: IOException) {
            file.failWrite(stream)
            throw failure
        }
    }

    private fun DataInputStream.readText() = ByteArray(readInt()).also(::readFully).decodeToString()

    private fun DataInputStream.readVector() = FloatArray(readInt()) { readFloat() }

    private fun DataOutputStream.writeText(text: String) {
        val bytes = text.encodeToByteArray()
        writeInt(bytes.size)
        write(bytes)
    }

    private fun DataOutputStream.writeVector(vector: FloatArray) {
        writeInt(vector.size)
        vector.forEach(::writeFloat)
    }
}
