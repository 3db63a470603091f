package dev.mobpack.farm

import android.content.Context
import android.util.Log
import java.io.File
import java.util.zip.CRC32

/** Runs the job in the app's assets once, and leaves its results where a farm finds them. */
public class FarmRun(private val context: Context) {
    /** The document of results; [line] gets every line that carries it. */
    public fun run(line: (String) -> Unit): String {
        val document = Job(context, unpackedJob()).run()
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

        /** The lines that carry [document], as mobpack reads them from logs: `MARK CRC32 INDEX/COUNT HEX`. */
        public fun lines(document: ByteArray): List<String> {
            val name = "%08x".format(CRC32().apply { update(document) }.value)
            val count = (document.size + BYTES_A_LINE - 1) / BYTES_A_LINE
            return (0 until count).map { index ->
                val end = minOf(document.size, (index + 1) * BYTES_A_LINE)
                val part = document.copyOfRange(index * BYTES_A_LINE, end).joinToString("") { "%02x".format(it) }
                "$MARK $name ${index + 1}/$count $part"
            }
        }
    }
}
