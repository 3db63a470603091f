package dev.mobpack.farm

import android.content.Context
import android.util.Log
import java.io.ByteArrayOutputStream
import java.io.File
import java.security.MessageDigest
import java.util.zip.GZIPOutputStream

/** Runs the job in the app's assets once, and leaves its results where a farm finds them. */
public class FarmRun(private val context: Context) {
    /** The document of results; [line] gets every line that carries it. */
    public fun run(line: (String) -> Unit): String {
        val document = Job.run(unpackedJob())
        File(context.getExternalFilesDir(null), FILE).writeText(document)
        for (each in lines(document.toByteArray())) {
            Log.i(TAG, each)
            line(each)
        }
        return document
    }

    private fun unpackedJob(): File {
        val folder = File(context.noBackupFilesDir, JOB)
        folder.deleteRecursively()
        for (name in context.assets.open("$JOB/$INDEX").bufferedReader().use { it.readLines() }) {
            val file = File(folder, name)
            file.parentFile?.mkdirs()
            context.assets.open("$JOB/$name").use { source -> file.outputStream().use { source.copyTo(it) } }
        }
        return folder
    }

    public companion object {
        /** Name of the file of results, in the app's external folder. */
        public const val FILE: String = "mobpack-results.json"

        private const val TAG = "mobpack"
        private const val MARK = "mobpack-results"
        private const val JOB = "job"
        private const val INDEX = "index.txt"
        private const val BYTES_A_LINE = 1500

        /** The lines that carry [document], as mobpack reads them from logs: `MARK SHA256 INDEX/COUNT HEX`. */
        public fun lines(document: ByteArray): List<String> {
            val packed = ByteArrayOutputStream().also { GZIPOutputStream(it).use { gzip -> gzip.write(document) } }.toByteArray()
            val name = hex(MessageDigest.getInstance("SHA-256").digest(document))
            val count = (packed.size + BYTES_A_LINE - 1) / BYTES_A_LINE
            return (0 until count).map { index ->
                val end = minOf(packed.size, (index + 1) * BYTES_A_LINE)
                "$MARK $name ${index + 1}/$count ${hex(packed.copyOfRange(index * BYTES_A_LINE, end))}"
            }
        }

        private fun hex(bytes: ByteArray): String = bytes.joinToString("") { "%02x".format(it) }
    }
}
