package device

import java.io.File
import java.io.RandomAccessFile
import java.net.URI
import java.nio.channels.FileChannel.MapMode
import java.security.MessageDigest
import java.util.jar.JarFile
import javax.net.ssl.SSLContext
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext

/** Loads all classes of the jars [arguments], and those of Java and Kotlin that apps with models use. */
fun main(arguments: Array<String>) {
    for (jar in arguments) {
        JarFile(jar).use { file -> file.entries().asSequence().map { it.name }.forEach(::load) }
    }
    val file = File(arguments.first())
    RandomAccessFile(file, "r").use { opened ->
        val mapped = opened.channel.map(MapMode.READ_ONLY, 0, file.length())
        MessageDigest.getInstance("SHA-256").apply { update(mapped) }.digest().joinToString("") { "%02x".format(it) }
    }
    runBlocking {
        withContext(Dispatchers.IO) { List(2) { async(Dispatchers.Default) { it } }.awaitAll().sorted() }
    }
    SSLContext.getDefault().createSSLEngine("localhost", 1).run {
        useClientMode = true
        wrap(java.nio.ByteBuffer.allocate(0), java.nio.ByteBuffer.allocate(session.packetBufferSize))
    }
    runCatching { URI("https://127.0.0.1:1/").toURL().openConnection().connect() }
}

private fun load(name: String) {
    val main = name.removeSuffix(".class")
    if (main != name) runCatching { Class.forName(main.replace('/', '.'), false, InstalledApp::class.java.classLoader) }
}
